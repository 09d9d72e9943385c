"""The public name of the list wrapper, where old bridges import it from; it lives in `noodlings.bridge`."""

from noodlings.bridge.list_wrapper import MemoryListWrapper

__all__ = ["MemoryListWrapper"]
