"""Images in Chromium: 1000 steps of 512 x 512 in 20 runs: from opening the tab to the first picture, from the step slider
to a picture, frames while scrolling, memory of server and page. TensorBoard's own page beside it, which keeps 10 steps."""

import page

logs, common, OURS, PEER, Server = page.logs, page.common, page.OURS, page.PEER, page.Server
WHERE = "images, 20 runs x 1000 steps of 512 x 512"


def report(who, found):
    def tell(part, unit, of):
        common.report(who, WHERE, part, unit, page.median([of(one) for one in found]))

    tell("open the tab to first picture", "ns", lambda one: one["first"] * page.MS)
    tell("slider to a picture far away", "ns", lambda one: page.median(one["far"]) * page.MS)
    tell("slider to the picture beside it", "ns", lambda one: page.median(one["beside"]) * page.MS)
    tell("heap of the page", "MB", lambda one: one["heap"] / 1e6)
    tell("process of the page", "MB", lambda one: one["process"] / 1e6)


def ours(repeat):
    with Server(OURS, logs.logdir("I")) as server:
        page.read_whole(server)
        common.report(OURS, WHERE, "memory of the server after reading", "MB", server.memory())
        found = [page.browse("images", server) for _ in range(repeat)]
        report(OURS, found)
        for part, of in (
            ("open the tab to all pictures in sight", lambda one: one["all"]),
            ("slider to a picture far away, the slowest", lambda one: one["far"][-1]),
            ("scrolling, longest frame", lambda one: one["scroll"]["longest"]),
            ("scrolling, median frame", lambda one: one["scroll"]["median"]),
        ):
            common.report(OURS, WHERE, part, "ns", page.median([of(one) for one in found]) * page.MS)
        common.report(OURS, WHERE, "memory of the server", "MB", server.memory())


def peer():
    with Server(PEER, logs.logdir("I")) as server:
        page.listed_by_peer(server, "images")
        report(PEER, [page.browse("images", server, "peer")])
        common.report(PEER, WHERE, "memory of the server", "MB", server.memory())


def main():
    ours(common.scaled(5, common.arguments()))
    page.beside(peer)


main()
