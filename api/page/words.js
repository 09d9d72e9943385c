// Plain words for names and numbers of the API.

export const REASONS = {
  recent: "it has only just happened",
  important: "it matters",
  affect: "it felt similar",
  semantic: "it means something similar",
  lexical: "it has the same words",
  next_to: "the lines around it have the same words",
  date: "it is from the day that was named",
  linked: "it is linked to another memory",
  due: "its time has come",
  name: "they told their name in it",
};
export const AXES = {
  valence: "pleasant (−1 painful, 1 delightful)",
  arousal: "arousal (0 asleep, 1 frantic)",
  fear: "fear",
  sorrow: "sorrow",
  boredom: "boredom",
};
export const PARTS = {
  surprise: "unexpected",
  intensity: "strongly felt",
  salience: "about who it is",
  addressed: "meant for it",
  answered: "it answered",
  remember: "it was asked to remember",
  significance: "worth remembering",
};
export const TRANSISTORS = {
  affect: "lets the feeling show in the words",
  goal: "lets what it wants show in the words",
  memory: "lets a moment that felt like this one show in the words",
  subconscious: "lets an image show in the words",
  ego: "makes the words more its own",
};
export const OUTCOMES = { passed: "nothing to add", off: "switched off", failed: "failed" };
export const STEPS = { perceived: "heard", recall: "memories come to mind", thinking: "still thinking" };
export const TONES = {
  said: "what was said", recalled: "a memory it brought back", before: "what came before",
};
export const FAMILIES = ["joy", "calm", "fear", "anger", "sorrow", "boredom", "neutral"];

const UNITS = [["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3_600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** Such as "5 minutes ago", for seconds. */
export function ago(seconds) {
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["", 0];
  return unit ? relative.format(-Math.round(seconds / length), unit) : "just now";
}

/** The text of a memory, with a hint of its kind. */
export const line = (entry) =>
  ({ emote: `${entry.name} ${entry.text}`, thought: `(a thought of its own) ${entry.text}`,
     event: `(it happened) ${entry.text}`, read: `(read) ${entry.text}`, known: `(known) ${entry.text}`,
     fact: `(a fact) ${entry.text}`, journal: `(in the journal) ${entry.text}` })[entry.kind] ?? entry.text;

export const reasons = (why) => why.map((one) => REASONS[one] ?? `of ${one}`).join(", and ");
