"""The words of prompts, as templates; `noodlings.llm.prompting` fills them."""
