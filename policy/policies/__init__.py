"""The policies, one file each: a name, a sentence, and how its rules differ from the defaults."""
