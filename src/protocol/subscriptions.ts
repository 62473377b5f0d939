/** `subscriptions/listen` (2026-07-28): what can be listened to. */

export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly resourcesListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
  /** Tasks extension. */
  readonly taskIds?: readonly string[];
}
