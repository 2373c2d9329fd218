"""What is in a trace: its sizes, its times, and what of it comes back, before any machine is asked about it."""
