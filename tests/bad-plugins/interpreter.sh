#!/nonexistent/interpreter
Nothing runs this.
