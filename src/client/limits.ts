/** The bounds of one client, complete; every one can be set. */

export interface ClientLimits {
  /** For the answer to the era probe on a stream. Default 5,000. */
  readonly probeMs: number;
  /** For each message of the handshake. Default 30,000. */
  readonly handshakeMs: number;
  /** Without progress. Default 30,000. */
  readonly idleTimeoutMs: number;
  /** In all, whatever progress comes; waiting for inputs is not counted. Default 600,000. */
  readonly totalTimeoutMs: number;
  readonly maxPages: number;
  readonly maxItems: number;
  /** Rounds of one multi-round request. Default 10. */
  readonly maxRounds: number;
  /** Waiting for inputs within one multi-round request, in all. Default 600,000. */
  readonly inputMs: number;
  /** Questions in one round, and open questions of a legacy server. Default 16. */
  readonly maxInputs: number;
  /** Questions of a legacy server per minute. Default 60. */
  readonly inputsPerMinute: number;
  /** Progress notifications passed on per request and second. Default 50. */
  readonly progressPerSecond: number;
  /** For the acknowledgement of a listen stream. Default 10,000. */
  readonly acknowledgeMs: number;
}

const defaultLimits: ClientLimits = {
  probeMs: 5_000,
  handshakeMs: 30_000,
  idleTimeoutMs: 30_000,
  totalTimeoutMs: 600_000,
  maxPages: 64,
  maxItems: 2_000,
  maxRounds: 10,
  inputMs: 600_000,
  maxInputs: 16,
  inputsPerMinute: 60,
  progressPerSecond: 50,
  acknowledgeMs: 10_000,
};

export function compileLimits(limits: Partial<ClientLimits> | undefined): ClientLimits {
  return Object.freeze({ ...defaultLimits, ...limits });
}
