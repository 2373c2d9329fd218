"""Shapes of published distributions, as integer quantile tables whose mean is 1000 (see `draws.Shape`).

Measured on public traces, then scaled to the mean: the Mooncake conversation trace and the first 1,000 requests of its
tool & agent trace (kvcache-ai/Mooncake, FAST'25 release, Apache-2.0), the Azure LLM inference trace 2023, code
(Azure/AzurePublicDataset, CC-BY-4.0), and 30 of the Weka agentic traces (kv-cache-tester, Apache-2.0). A later turn
is a request whose deepest block seen before is not the first one; it belongs to the request that had it last.
"""

from __future__ import annotations

from harness.synth.draws import Shape

# -ln(1 - q), the gaps of a Poisson process. The last value closes the tail so that the mean stays 1000.
EXPONENTIAL: Shape = (
    (0, 0), (100, 105), (200, 222), (300, 354), (400, 507), (500, 688), (600, 910), (700, 1196), (800, 1598),
    (850, 1884), (900, 2287), (925, 2572), (950, 2975), (970, 3482), (980, 3885), (990, 4573), (995, 5262),
    (999, 6860), (1000, 9136),
)  # fmt: skip

# Everything between half and one and a half times the mean alike.
UNIFORM: Shape = ((0, 500), (1000, 1500))

# Mooncake conversation: tokens of a first prompt beyond the 880 that nearly all prompts begin with (7,373).
CHAT_FIRST_TOKENS: Shape = (
    (0, 1), (50, 2), (100, 2), (200, 21), (300, 86), (400, 297), (500, 430), (600, 640), (700, 969), (800, 1469),
    (900, 2418), (950, 3682), (980, 6499), (990, 8719), (995, 10849), (999, 11815), (1000, 12278),
)  # fmt: skip

# Mooncake conversation: tokens of a later turn beyond the prompt and the answer before it (3,959 whole extensions).
CHAT_LATER_TOKENS: Shape = (
    (0, 1), (100, 1), (200, 5), (300, 9), (400, 12), (500, 20), (600, 40), (700, 134), (800, 539), (900, 3254),
    (950, 5372), (980, 9114), (990, 12967), (995, 17178), (999, 29083), (1000, 70998),
)  # fmt: skip

# Mooncake conversation: time from a turn to the next, arrival to arrival (4,657).
CHAT_GAP: Shape = (
    (0, 14), (10, 55), (50, 137), (100, 191), (200, 273), (300, 342), (400, 437), (500, 560), (600, 738),
    (700, 1011), (800, 1448), (900, 2200), (950, 2801), (980, 4700), (990, 6708), (995, 8689), (999, 11954),
    (1000, 13798),
)  # fmt: skip

# Mooncake conversation: tokens of an answer (12,031).
CHAT_OUTPUT_TOKENS: Shape = (
    (0, 3), (10, 9), (50, 29), (100, 70), (200, 290), (300, 618), (400, 844), (500, 1015), (600, 1157), (700, 1297),
    (800, 1462), (900, 1732), (950, 2025), (980, 2585), (990, 3249), (995, 4555), (999, 5802), (1000, 5802),
)  # fmt: skip

# Mooncake tool & agent, first 1,000: tokens of a prompt that no earlier prompt had.
TASK_NEW_TOKENS: Shape = (
    (0, 0), (10, 0), (50, 4), (100, 9), (200, 66), (300, 93), (400, 105), (500, 146), (600, 224), (700, 592),
    (800, 1438), (900, 2754), (950, 4044), (980, 7504), (990, 12324), (995, 14321), (999, 19020), (1000, 19852),
)  # fmt: skip

# Mooncake tool & agent, first 1,000: tokens of an answer.
TASK_OUTPUT_TOKENS: Shape = (
    (0, 5), (10, 15), (200, 15), (300, 100), (400, 125), (500, 169), (600, 951), (700, 1728), (800, 2167),
    (900, 2660), (950, 3038), (980, 3502), (990, 4139), (995, 4513), (999, 9962), (1000, 9962),
)  # fmt: skip

# Azure 2023 code: tokens of a prompt and of an answer (8,819).
CODE_INPUT_TOKENS: Shape = (
    (0, 1), (10, 8), (50, 36), (100, 71), (200, 186), (300, 370), (400, 517), (500, 706), (600, 918), (700, 1170),
    (800, 1535), (900, 2494), (950, 3511), (980, 3576), (1000, 3576),
)  # fmt: skip
CODE_OUTPUT_TOKENS: Shape = (
    (0, 205), (50, 205), (100, 239), (200, 273), (300, 308), (400, 376), (500, 444), (600, 547), (700, 683),
    (800, 991), (900, 1879), (950, 3075), (980, 5878), (990, 8611), (995, 12336), (999, 28157), (1000, 64892),
)  # fmt: skip

# Weka: tokens of an agent's first prompt beyond tools and system prompt, at most 180,000 (30 agents).
AGENT_FIRST_TOKENS: Shape = (
    (0, 3), (50, 12), (100, 36), (200, 90), (300, 107), (400, 111), (500, 128), (600, 606), (700, 1299), (800, 1897),
    (900, 3526), (1000, 4406),
)  # fmt: skip

# Weka: steps of an agent (30).
AGENT_STEPS: Shape = (
    (0, 54), (50, 68), (100, 109), (200, 218), (300, 327), (400, 531), (500, 708), (600, 912), (700, 1076),
    (800, 1293), (900, 3077), (1000, 3458),
)  # fmt: skip

# Weka: tokens of a step beyond the prompt and the answer before it, at most 50,000; compactions aside (2,170).
AGENT_STEP_TOKENS: Shape = (
    (0, 1), (100, 1), (200, 22), (300, 75), (400, 145), (500, 258), (600, 437), (700, 608), (800, 986), (900, 2225),
    (950, 3810), (980, 9527), (990, 12508), (995, 13177), (999, 26254), (1000, 36503),
)  # fmt: skip

# Weka: time from a step to the next, arrival to arrival, at most an hour (2,187).
AGENT_GAP: Shape = (
    (0, 59), (10, 71), (50, 83), (100, 95), (200, 119), (300, 143), (400, 166), (500, 214), (600, 274), (700, 381),
    (800, 595), (900, 1284), (950, 3437), (980, 7707), (990, 16269), (995, 35452), (999, 42814), (1000, 42814),
)  # fmt: skip

# Weka: tokens of an agent's answer (2,217).
AGENT_OUTPUT_TOKENS: Shape = (
    (0, 2), (10, 116), (50, 215), (100, 259), (200, 306), (300, 353), (400, 407), (500, 479), (600, 585), (700, 785),
    (800, 1143), (900, 1877), (950, 3373), (980, 6620), (990, 8119), (995, 9297), (999, 15620), (1000, 24379),
)  # fmt: skip
