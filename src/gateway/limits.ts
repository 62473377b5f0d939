/** What one gateway bears. */
export interface GatewayLimits {
  /** Bytes of one request body. */
  readonly maxBodyBytes: number;
  /** Requests that are being answered. */
  readonly maxRequests: number;
  /** Event streams that stay open: legacy GET, `subscriptions/listen`, the console's events. */
  readonly maxStreams: number;
  readonly maxConnections: number;
  readonly maxSessions: number;
  /** A legacy session without a request and without a stream. */
  readonly sessionTtlMs: number;
  /** For the head of a request. */
  readonly headTimeoutMs: number;
  /** For a whole request, its body included. */
  readonly requestTimeoutMs: number;
  /** Between two looks at what is open. */
  readonly pulseMs: number;
}

export const DEFAULT_LIMITS: GatewayLimits = {
  maxBodyBytes: 4 * 1024 * 1024,
  maxRequests: 512,
  maxStreams: 256,
  maxConnections: 2_048,
  maxSessions: 256,
  sessionTtlMs: 60 * 60 * 1_000,
  headTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  pulseMs: 5_000,
};
