"""The commands behind the command line: each parses, calls one function, prints."""
