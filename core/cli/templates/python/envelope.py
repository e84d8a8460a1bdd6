#!/usr/bin/python3
"""The Crossvisor plugin @name@. It does nothing itself: it answers requests with steps, as data."""

import json
import sys


class Refusal(Exception):
    """Why the plugin cannot do what it was asked, in words for the person who asked."""


def run(on, argv, timeout_s, ok_exit=(0,)):
    """A program to run at a place: an argument vector, never a line for a shell."""
    return {"on": on, "argv": argv, "timeout_s": timeout_s, "ok_exit": list(ok_exit)}


def step(say, action, undo=None):
    """An action with a few words for people, and what undoes it."""
    return {"say": say, **action, **({"undo": undo} if undo else {})}


def execute(*arguments, **named):
    return {"do": "exec", **run(*arguments, **named)}


def finish(steps=(), output=None):
    """The operation is over after these steps."""
    return {"done": True, "steps": list(steps), "output": output}


def go_on(*steps):
    """The operation is asked again with the results of these steps."""
    return {"done": False, "steps": list(steps)}
