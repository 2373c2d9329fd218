"""Views of a report: what a person reads. Each is a function from the document to text."""
