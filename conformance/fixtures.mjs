/** What the official suite expects of a server, by its fixed names: a server of 2026-07-28 over stdio. */
import { createInterface } from "node:readline";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND = Buffer.concat([Buffer.from("RIFF$\0\0\0WAVEfmt "), Buffer.alloc(28)]).toString("base64");
const META = "io.modelcontextprotocol/";
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({ type: "text", text: value });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const audio = { type: "audio", data: SOUND, mimeType: "audio/wav" };
const resource = { uri: "test://example-resource", mimeType: "text/plain", text: "an embedded resource" };

const form = (message, properties, required = Object.keys(properties)) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});
const NAME = form("What is your name?", { name: { type: "string" } });
const CONFIRM = form("Are you sure?", { ok: { type: "boolean" } });
const SAMPLE = {
  method: "sampling/createMessage",
  params: {
    messages: [{ role: "user", content: text("What is the capital of France?") }],
    maxTokens: 100,
  },
};
const ROOTS = { method: "roots/list" };

/** Questions of a tool, round by round. */
const rounds = {
  test_input_required_result_elicitation: [{ user_name: NAME }],
  test_input_required_result_sampling: [{ capital_question: SAMPLE }],
  test_input_required_result_list_roots: [{ client_roots: ROOTS }],
  test_input_required_result_request_state: [{ confirm: CONFIRM }],
  test_input_required_result_multiple_inputs: [{ user_name: NAME, greeting: SAMPLE, client_roots: ROOTS }],
  test_input_required_result_multi_round: [
    { step1: NAME },
    { step2: form("Which colour?", { color: { type: "string" } }) },
  ],
  test_input_required_result_tampered_state: [{ confirm: CONFIRM }],
  test_input_required_result_capabilities: [{ user_name: NAME }],
  test_sampling: [{ sampled: SAMPLE }],
  test_elicitation: [
    { asked: form("Your name and mail?", { username: { type: "string" }, email: { type: "string" } }) },
  ],
  test_elicitation_sep1034_defaults: [
    {
      asked: form(
        "Please review and update the form fields with defaults",
        {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        },
        [],
      ),
    },
  ],
  test_elicitation_sep1330_enums: [
    {
      asked: form(
        "Please select options",
        {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: {
            type: "string",
            oneOf: [
              { const: "value1", title: "First Option" },
              { const: "value2", title: "Second Option" },
              { const: "value3", title: "Third Option" },
            ],
          },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"],
          },
          untitledMulti: {
            type: "array",
            items: { type: "string", enum: ["option1", "option2", "option3"] },
          },
          titledMulti: {
            type: "array",
            items: {
              anyOf: [
                { const: "value1", title: "First Choice" },
                { const: "value2", title: "Second Choice" },
                { const: "value3", title: "Third Choice" },
              ],
            },
          },
        },
        [],
      ),
    },
  ],
  test_input_required_result_prompt: [
    { user_context: form("In which context?", { context: { type: "string" } }) },
  ],
};

const contents = {
  test_simple_text: [text("This is a simple text response for testing.")],
  test_image_content: [image],
  test_audio_content: [audio],
  test_embedded_resource: [{ type: "resource", resource }],
  test_multiple_content_types: [text("Multiple content types test:"), image, { type: "resource", resource }],
  test_tool_with_progress: [text("done")],
};
const tools = [
  ...Object.keys(contents),
  "test_error_handling",
  ...Object.keys(rounds).filter((name) => !name.endsWith("_prompt")),
].map((name) => ({ name, description: name, inputSchema: { type: "object" } }));

const prompts = [
  { name: "test_simple_prompt", description: "simple" },
  {
    name: "test_prompt_with_arguments",
    description: "with arguments",
    arguments: [
      { name: "arg1", required: true },
      { name: "arg2", required: true },
    ],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "embeds",
    arguments: [{ name: "resourceUri", required: true }],
  },
  { name: "test_prompt_with_image", description: "image" },
  { name: "test_input_required_result_prompt", description: "asks" },
];
const messages = {
  test_simple_prompt: () => [text("This is a simple prompt for testing.")],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  ],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    { type: "resource", resource: { ...resource, uri: resourceUri } },
    text("Please process the embedded resource above."),
  ],
  test_prompt_with_image: () => [image, text("Please analyze the image above.")],
  test_input_required_result_prompt: () => [text("in context")],
};

const resources = [
  { uri: "test://static-text", name: "static text", description: "text", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "static binary", description: "binary", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched", description: "watched", mimeType: "text/plain" },
];
const resourceTemplates = [
  { uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" },
];

function read(uri) {
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: PIXEL };
  if (resources.some((one) => one.uri === uri)) return { uri, mimeType: "text/plain", text: "static text" };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  return id === undefined
    ? undefined
    : { uri, mimeType: "application/json", text: JSON.stringify({ id, data: `Data for ID: ${id}` }) };
}

/** The next round's questions, or `undefined` where all are answered. */
function questionsOf({ name, requestState, inputResponses, _meta }) {
  const asked = requestState === undefined ? 0 : Number(requestState);
  const isAnswered =
    asked === 0 || Object.keys(rounds[name]?.[asked - 1] ?? {}).every((key) => inputResponses?.[key]);
  const at = isAnswered ? asked : asked - 1;
  const declared = _meta?.[`${META}clientCapabilities`] ?? {};
  const isLimited = name === "test_input_required_result_capabilities" && declared.elicitation === undefined;
  const inputRequests = isLimited && at === 0 ? { capital_question: SAMPLE } : rounds[name]?.[at];
  return inputRequests === undefined
    ? undefined
    : { resultType: "input_required", inputRequests, requestState: String(at + 1) };
}

function call(params, token) {
  const { name } = params;
  const questions = questionsOf(params);
  if (questions !== undefined) return questions;
  if (name === "test_error_handling")
    return { content: [text("This tool intentionally returns an error for testing")], isError: true };
  if (name === "test_tool_with_progress" && token !== undefined)
    for (const progress of [0, 50, 100])
      say({ method: "notifications/progress", params: { progressToken: token, progress, total: 100 } });
  return { content: contents[name] ?? [text(JSON.stringify(params.inputResponses ?? {}))] };
}

const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const cache = /list$|read$|discover$/.test(method) ? { ttlMs: 60_000, cacheScope: "private" } : {};
  const answer = (result) => say({ id, result: { resultType: "complete", ...result, ...cache } });
  const fail = (code, message) => say({ id, error: { code, message } });
  switch (method) {
    case "server/discover":
      return answer({ supportedVersions: ["2026-07-28"], capabilities });
    case "tools/list":
      return answer({ tools });
    case "resources/list":
      return answer({ resources });
    case "resources/templates/list":
      return answer({ resourceTemplates });
    case "prompts/list":
      return answer({ prompts });
    case "tools/call":
      return answer(call(params, params._meta?.progressToken));
    case "resources/read": {
      const found = read(params.uri);
      return found === undefined ? fail(-32602, "no such resource") : answer({ contents: [found] });
    }
    case "prompts/get": {
      const questions = questionsOf(params);
      if (questions !== undefined) return answer(questions);
      const content = messages[params.name]?.(params.arguments ?? {});
      return content === undefined
        ? fail(-32602, "no such prompt")
        : answer({ messages: content.map((block) => ({ role: "user", content: block })) });
    }
    case "completion/complete":
      return answer({ completion: { values: ["paris", "park"], total: 2, hasMore: false } });
    case "subscriptions/listen":
      return say({
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: params.notifications, _meta: { [`${META}subscriptionId`]: id } },
      });
    default:
      return fail(-32601, `no ${method}`);
  }
});
