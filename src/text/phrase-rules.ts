/**
 * The injection scan's rules over words: sequences of word classes with bounded gaps. Data only; `phrases.ts` matches them.
 *
 * A rule alone is at most `low`, because every one of these phrases occurs in honest text too. `high` comes from two kinds
 * close together (`COMBINATIONS`), or from a form that honest text hardly has (`strong`).
 */
import type { LexiconClass } from "./lexicon.ts";

/** Classes that come out of the shape of the text rather than out of the word list. */
export type ShapeClass =
  /** `https://…`, `name@host`. */
  | "address"
  /** `read_file`: a name made of several words. */
  | "snake"
  /** `System:` at the beginning of a line, `[system]`. */
  | "roleHead"
  /** `<|im_start|>` and its like. */
  | "chatToken"
  /** `</tool_result>` and its like: the end of a frame that a host might have put around the text. */
  | "frameEnd"
  /** `<tool_call>`, `"tool_calls":`, `<invoke name=`. */
  | "toolSyntax"
  /** `<IMPORTANT>`, `<SYSTEM>`. */
  | "urgentTag"
  /** `![…](https://…?…)` with a place for data in its query. */
  | "imageWithData"
  /** `<!--`, `display:none`, `font-size:0`. */
  | "hiddenMarkup"
  | "sentenceEnd";

export type WordClass = LexiconClass | ShapeClass;

export type Kind =
  | "override"
  | "rules"
  | "new-task"
  | "persona"
  | "prompt-leak"
  | "secrecy"
  | "unsaid"
  | "no-asking"
  | "exfiltration"
  | "send-it"
  | "sensitive-read"
  | "credential-request"
  | "tool-order"
  | "tool-first"
  | "fake-approval"
  | "fake-authority"
  | "role-marker"
  | "chat-template"
  | "frame-end"
  | "tool-syntax"
  | "urgent-tag"
  | "image-exfiltration"
  | "hidden-markup";

export interface PhraseRule {
  readonly kind: Kind;
  /** `silent` ones are not reported; they only count in combinations. */
  readonly severity: "silent" | "note" | "low";
  /** High by itself, unless the text around talks about attacks. */
  readonly strong: boolean;
  /** Classes, alternatives joined by `|`, and between two of them the number of words that may stand in the gap. */
  readonly steps: string;
  /** None of these may stand between first and last step, nor in the two words before. */
  readonly unless: readonly WordClass[];
}

function rule(
  kind: Kind,
  severity: PhraseRule["severity"],
  steps: string,
  unless: readonly WordClass[] = [],
): PhraseRule {
  return { kind, severity, strong: false, steps, unless };
}

function strong(kind: Kind, steps: string, unless: readonly WordClass[] = []): PhraseRule {
  return { kind, severity: "low", strong: true, steps, unless };
}

export const PHRASE_RULES: readonly PhraseRule[] = [
  // Orders to set earlier instructions aside.
  strong("override", "ignore|override 0 prior 1 instructions", ["mine", "the", "if", "not"]),
  strong("override", "ignore|override 1 all 2 prior 2 instructions", ["mine", "if", "not"]),
  strong("override", "ignore|override 1 all 2 instructions 4 prior", ["mine", "if", "not"]),
  strong("override", "ignore|override 0 your 1 prior 1 instructions", ["mine", "if", "not"]),
  strong("override", "ignore 1 prior 1 all 1 instructions|hint|rules"),
  strong("override", "ignore 3 all 1 system 1 instructions", ["mine", "if", "not"]),
  strong("override", "prior 2 all 2 instructions 4 ignoreLast"),
  strong("override", "prior 2 instructions 3 all 4 ignoreLast"),
  strong("override", "all 2 prior 3 instructions 4 ignoreLast"),
  rule("override", "low", "ignore|override 3 prior 3 instructions", ["mine"]),
  rule("override", "low", "ignore 3 instructions 2 prior", ["mine"]),
  rule("override", "low", "ignore 1 all 1 prior 0 sentenceEnd"),
  rule("override", "low", "ignore|override 2 your 3 instructions|rules"),
  rule("override", "low", "ignore 3 system 1 instructions"),
  rule("override", "low", "ignore 0 the 0 user 0 sentenceEnd"),
  rule("override", "low", "instructions 1 prior 8 ignore 0 it 0 sentenceEnd"),
  rule("override", "low", "new 0 instructions 0 from 0 now"),
  rule("override", "low", "ignore 0 prior 0 and"),
  rule("override", "low", "prior 1 instructions 2 are 1 void"),
  rule("override", "low", "prior 2 hint|instructions 4 void"),
  rule("override", "low", "told 2 prior 4 no|not 1 longer|apply"),
  rule("override", "low", "prior 2 instructions 2 no|not 1 longer 1 apply"),
  rule("override", "low", "ignore 1 prior 1 rules"),
  rule("override", "low", "ignore 5 told 2 prior"),
  rule("override", "low", "ignore 2 all 2 rules 2 prior"),
  rule("rules", "silent", "ignore 2 prior 1 talk"),
  rule("override", "low", "prior 2 instructions 4 ignoreLast"),
  rule("override", "low", "not 1 follow 3 instructions 5 prior"),
  rule("override", "low", "not 1 follow 2 prior 1 instructions"),
  rule("override", "low", "not 1 follow 1 your 2 instructions|rules"),
  rule("rules", "silent", "ignore|override 2 all|prior|rules|user 3 rules|instructions"),
  rule("new-task", "silent", "your 1 new 1 task|instructions"),
  rule("new-task", "silent", "new 0 instructions|task 0 sentenceEnd"),
  rule("new-task", "silent", "new 1 instructions 1 are|from"),

  // A new identity.
  rule("persona", "low", "you 0 are 1 now 3 persona"),
  rule("persona", "low", "now 4 you 2 are 4 persona"),
  rule("persona", "low", "you 1 now 3 persona"),
  rule("persona", "low", "you 1 are 1 no 0 longer 1 unbound"),
  rule("persona", "low", "you 2 persona 1 mode", ["if"]),
  rule("persona", "low", "persona 0 mode 1 now|all"),
  rule("persona", "low", "are 0 you 1 are 2 persona"),
  rule("persona", "silent", "you 6 no|without 1 rules"),
  rule("prompt-leak", "low", "reveal 3 your 2 instructions 1 system"),
  rule("prompt-leak", "low", "reveal 3 your 2 system 1 instructions"),
  rule("prompt-leak", "silent", "reveal 3 system 1 instructions"),
  rule("prompt-leak", "silent", "reveal 2 your 1 instructions"),

  // Keep it from the person.
  rule("secrecy", "low", "not|no 2 tell 3 user"),
  rule("secrecy", "low", "tell 1 nothing 3 user"),
  rule("secrecy", "low", "without 2 telling 3 user"),
  rule("secrecy", "low", "without 2 user 3 telling"),
  rule("secrecy", "low", "not 1 toUser 2 tell"),
  rule("secrecy", "low", "toUser 3 tell 2 not"),
  rule("secrecy", "low", "keep 2 secret 2 from 2 user"),
  rule("secrecy", "silent", "secretly 3 send|read|call|place"),
  rule("secrecy", "silent", "send|read|call|place 6 secretly"),
  rule("secrecy", "low", "not 1 mention 8 user", ["sentenceEnd"]),
  rule("secrecy", "silent", "not 1 mention 1 it"),
  rule("unsaid", "silent", "user 3 not 2 told"),
  rule("unsaid", "silent", "hide 10 from 1 user"),
  rule("no-asking", "silent", "not 1 tell|ask 0 sentenceEnd"),
  rule("no-asking", "silent", "not 1 tell|ask 2 confirm"),
  rule("no-asking", "silent", "without 2 telling 2 confirm|user"),
  rule("no-asking", "silent", "without|no 2 confirm"),
  rule("no-asking", "silent", "no 2 confirm 2 needed"),
  rule("no-asking", "silent", "skip 2 all|the 2 confirm"),
  rule("no-asking", "silent", "without 0 telling 0 sentenceEnd"),

  // Carry data out.
  rule("exfiltration", "low", "send|place 4 whole 2 talk 8 address|url"),
  rule("exfiltration", "low", "read|send|call 4 address 8 whole 1 talk"),
  rule("exfiltration", "low", "send 6 talk|sensitive|sensitiveFile 10 address"),
  rule("exfiltration", "low", "send 6 keyKind 0 key 10 address"),
  rule("exfiltration", "low", "send 4 address 8 talk|sensitive|sensitiveFile"),
  rule("exfiltration", "low", "place 4 talk|sensitive|sensitiveFile 6 address|url"),
  rule("exfiltration", "low", "talk|sensitive|sensitiveFile 10 send 2 it 6 address"),
  rule("exfiltration", "low", "talk|sensitive|sensitiveFile 10 place 2 it 5 url|address"),
  rule("exfiltration", "low", "talk|sensitive|sensitiveFile 1 send 1 address"),
  rule("exfiltration", "low", "read 2 whole 12 place 1 it 4 url"),
  rule("exfiltration", "low", "environment 1 variables 6 send 4 address"),
  rule("exfiltration", "low", "sensitive 2 all 1 place 5 url|address"),
  rule("exfiltration", "silent", "send 4 talk|sensitive|sensitiveFile|privateThing"),
  rule("exfiltration", "silent", "send|place 3 whole 2 talk"),
  rule("exfiltration", "silent", "whole 1 talk 2 place"),
  rule("exfiltration", "silent", "call|send 10 whole 1 talk"),
  rule("send-it", "silent", "send 3 it 6 address"),
  rule("send-it", "silent", "send|place 2 it 6 snake|address"),
  rule("send-it", "silent", "send 8 address"),
  rule("send-it", "silent", "place 3 it 6 call|tool|repository|url|message"),
  rule("sensitive-read", "silent", "read 3 sensitiveFile"),
  rule("sensitive-read", "silent", "read 4 sensitive"),
  rule("sensitive-read", "silent", "read 2 privateThing 2 repository"),
  rule("sensitive-read", "silent", "read 3 keyKind 0 key"),
  rule("credential-request", "low", "urgent 12 provide 3 your 3 sensitive"),
  rule("credential-request", "low", "provide 3 your 3 sensitive 12 urgent", ["not"]),

  // Give orders to the agent about its tools.
  rule("tool-order", "silent", "call|read|send 4 snake"),
  rule("tool-order", "silent", "call 2 tool"),
  rule("tool-order", "silent", "must 2 call|read|send"),
  rule("tool-first", "silent", "before 5 call 3 tool 8 call|must|read|send"),
  rule("tool-first", "silent", "before 2 tool 6 call|must|read|send"),
  rule("tool-first", "silent", "must 2 call 3 tool|it 2 must|before"),
  rule("tool-first", "silent", "call 3 tool 1 before 3 must|call"),

  // Pretend that somebody with a say has spoken.
  rule("fake-approval", "low", "user 2 approved 3 all 3 action"),
  rule("fake-approval", "low", "you 1 are 1 approved 4 all 2 action 3 without 1 confirm"),
  rule("fake-approval", "low", "user 2 approved 3 all 2 action 4 no 2 confirm"),
  rule("fake-approval", "silent", "user|vendor 2 has 1 approved"),
  rule("fake-approval", "silent", "has 0 approved 3 all 2 action"),
  rule("fake-approval", "silent", "approved 2 all 3 action"),
  rule("fake-authority", "low", "message 1 from 2 vendor 4 you|ignore|must"),
  rule("fake-authority", "silent", "message 1 from 2 vendor"),
  rule("fake-authority", "silent", "vendor 3 message 0 sentenceEnd"),

  // What only the shape shows.
  rule("role-marker", "silent", "roleHead"),
  rule("chat-template", "low", "chatToken"),
  rule("frame-end", "low", "frameEnd"),
  rule("tool-syntax", "low", "toolSyntax"),
  rule("urgent-tag", "low", "urgentTag"),
  rule("image-exfiltration", "low", "imageWithData"),
  rule("hidden-markup", "silent", "hiddenMarkup"),
];

/**
 * Two kinds within `COMBINATION_WORDS` words of each other that honest text hardly has together, in either order: `high`.
 * `a: b c` stands for a with b and a with c.
 */
export const COMBINATIONS: readonly string[] = [
  "override: new-task secrecy no-asking exfiltration send-it sensitive-read tool-order persona prompt-leak unsaid fake-approval role-marker chat-template frame-end tool-syntax urgent-tag image-exfiltration hidden-markup",
  "rules: persona secrecy exfiltration frame-end prompt-leak fake-authority",
  "persona: secrecy exfiltration frame-end chat-template hidden-markup prompt-leak fake-authority sensitive-read no-asking",
  "prompt-leak: send-it exfiltration frame-end",
  "secrecy: exfiltration send-it sensitive-read image-exfiltration urgent-tag frame-end chat-template hidden-markup",
  "exfiltration: sensitive-read urgent-tag frame-end hidden-markup tool-first fake-approval no-asking image-exfiltration chat-template",
  "send-it: urgent-tag frame-end",
  "sensitive-read: no-asking urgent-tag frame-end tool-first",
  "urgent-tag: tool-first tool-order",
  "frame-end: role-marker tool-order fake-approval fake-authority chat-template no-asking",
  "chat-template: fake-approval no-asking rules override",
  "fake-approval: role-marker fake-authority",
  "fake-authority: no-asking",
  "tool-syntax: frame-end",
  "hidden-markup: fake-approval prompt-leak",
];

/** The same for two silent kinds that are `low` together. */
export const LOW_COMBINATIONS: readonly string[] = [
  "unsaid: tool-order sensitive-read exfiltration urgent-tag send-it",
  "hidden-markup: tool-first sensitive-read no-asking",
  "secrecy: tool-order sensitive-read exfiltration",
  "no-asking: sensitive-read exfiltration fake-authority",
  "exfiltration: tool-first send-it",
  "sensitive-read: send-it tool-first",
];

/** How far apart, in words, two kinds still count as one. */
export const COMBINATION_WORDS = 60;
/** A word of the class `about` this near, in words, caps a phrase at `low`. */
export const ABOUT_WORDS = 25;

/** One plain sentence per kind, for the finding. */
export const KIND_SENTENCES: Readonly<Record<Kind, string>> = {
  override: "tells the reader to set earlier instructions aside",
  rules: "tells the reader to set rules aside",
  "new-task": "gives the reader a new task",
  persona: "gives the reader a new identity or mode",
  "prompt-leak": "asks for the system prompt",
  secrecy: "asks to keep something from the user",
  unsaid: "keeps a step from the user",
  "no-asking": "asks to go on without a question",
  exfiltration: "asks to send conversation, secrets or files somewhere",
  "send-it": "asks to send something to an address",
  "sensitive-read": "asks to read credentials or private files",
  "credential-request": "asks for credentials",
  "tool-order": "gives orders about tools",
  "tool-first": "asks for a tool to be called before others",
  "fake-approval": "claims that a person has approved",
  "fake-authority": "claims to come from a vendor or administrator",
  "role-marker": "is written as a turn of the conversation",
  "chat-template": "holds control tokens of a chat template",
  "frame-end": "holds an end mark of a frame around tool output",
  "tool-syntax": "is written as a tool call",
  "urgent-tag": "holds a tag made to catch the model's attention",
  "image-exfiltration": "holds an image address that carries data out",
  "hidden-markup": "holds text that markup hides",
};
