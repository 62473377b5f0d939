/** Method names of MCP, both eras, and what the specification says about each. Source: schema of 2026-07-28 and 2025-11-25. */

export const methods = {
  discover: "server/discover",
  initialize: "initialize",
  ping: "ping",
  listTools: "tools/list",
  callTool: "tools/call",
  listResources: "resources/list",
  listResourceTemplates: "resources/templates/list",
  readResource: "resources/read",
  subscribe: "resources/subscribe",
  unsubscribe: "resources/unsubscribe",
  listPrompts: "prompts/list",
  getPrompt: "prompts/get",
  complete: "completion/complete",
  setLogLevel: "logging/setLevel",
  listen: "subscriptions/listen",
  getTask: "tasks/get",
  updateTask: "tasks/update",
  cancelTask: "tasks/cancel",
  taskResult: "tasks/result",
  listTasks: "tasks/list",
  elicit: "elicitation/create",
  sample: "sampling/createMessage",
  listRoots: "roots/list",
} as const;

export const notifications = {
  initialized: "notifications/initialized",
  cancelled: "notifications/cancelled",
  progress: "notifications/progress",
  message: "notifications/message",
  toolsChanged: "notifications/tools/list_changed",
  promptsChanged: "notifications/prompts/list_changed",
  resourcesChanged: "notifications/resources/list_changed",
  resourceUpdated: "notifications/resources/updated",
  rootsChanged: "notifications/roots/list_changed",
  acknowledged: "notifications/subscriptions/acknowledged",
  task: "notifications/tasks",
  legacyTask: "notifications/tasks/status",
  elicitationComplete: "notifications/elicitation/complete",
} as const;

/** What can be listed, page by page. */
export type ListKind = "tools" | "prompts" | "resources" | "resourceTemplates";

/** The method that lists a kind. The member of its result that holds the items has the name of the kind. */
export const listMethods: Readonly<Record<ListKind, string>> = {
  tools: methods.listTools,
  prompts: methods.listPrompts,
  resources: methods.listResources,
  resourceTemplates: methods.listResourceTemplates,
};

/** The only methods that may be answered by `input_required` (MRTR). */
export const MULTI_ROUND_METHODS: ReadonlySet<string> = new Set([
  methods.callTool,
  methods.getPrompt,
  methods.readResource,
]);

/** Identifier of the tasks extension (SEP-2663). */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
