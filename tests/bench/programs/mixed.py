"""Ordinary Python: dictionaries, strings, classes, sorting, json, regular expressions."""
import json
import re
import sys


class Account:
    def __init__(self, name):
        self.name = name
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount
        return self.balance


def words(count):
    state = 12345
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        yield "w%d" % (state % 5000)


def main():
    rounds = int(sys.argv[1])
    total = 0
    for turn in range(rounds):
        counts = {}
        for word in words(20000):
            counts[word] = counts.get(word, 0) + 1
        accounts = [Account(name) for name in sorted(counts)]
        for account in accounts:
            for _ in range(3):
                total += account.deposit(counts[account.name] + turn)
        text = json.dumps([{"name": a.name, "balance": a.balance} for a in accounts])
        total += sum(len(m) for m in re.findall(r"w\d*7\d*", text))
        total += len(json.loads(text))
        total += sum(i * i % 7 for i in range(20000))
    print(total)


main()
