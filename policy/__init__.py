"""The policy plane: decides where a cached KV span should live and when it should move. It moves no bytes.

Pure: no clock, no files, no environment, no randomness, no printing, nothing outside the standard library.
Every time, size and cost comes in as an integer; every decision goes out as integers.
"""
