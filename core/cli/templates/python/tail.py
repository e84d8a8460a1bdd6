

def refuse(message):
    return {"v": 1, "error": {"message": message, "left": "nothing"}}


def reply(line):
    """The answer to one request. What goes wrong in between becomes a refusal: the plugin goes on."""
    try:
        request = json.loads(line)
        if request["v"] != 1:
            return refuse(f"envelope version {request['v']} is not 1")
        if request["op"] == "manifest":
            return {"v": 1, "ok": MANIFEST}
        if request["offer"] != MANIFEST["offers"][0]["name"]:
            return refuse(f"{MANIFEST['name']} has no offer '{request['offer']}'")
        if request["op"] not in OPERATIONS:
            return refuse(f"'{request['op']}' is not an operation of a {MANIFEST['kind']} plugin")
        operation = OPERATIONS[request["op"]]
        return {"v": 1, "ok": operation(request["options"], request["input"], request.get("results", []))}
    except Refusal as refusal:
        return refuse(str(refusal))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        return refuse(f"the request is not understood: {type(error).__name__}: {error}")


def main():
    """One line of JSON for each line of JSON, until there are no more."""
    for line in sys.stdin.buffer:
        sys.stdout.write(json.dumps(reply(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
