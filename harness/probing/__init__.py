"""Probing: what this machine is, proven or dropped, as a ladder and as an entry of the catalog.

Read (`host`, `gpus`, `spill`), classify (`topology`), measure where asked (`measure`), conclude (`ladder`), write
(`entry`); `probe` does one after the other. Only reading and measuring touch the machine: the rest is a function of
the readings. Nothing is imported here, so that a system without the calls that measuring needs can still say so.
"""
