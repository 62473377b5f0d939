/**
 * The only way of a transport to the network. `egress/` implements it (guarded HTTP with pinned DNS); the HTTP transport,
 * OAuth and every other fetch use it and never open a socket themselves. Redirects are never followed here: the caller
 * sees the 3xx.
 */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE" | "PUT" | "HEAD";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Aborting destroys the exchange at any point, also while the body is read. */
  readonly signal: AbortSignal;
  /** Milliseconds until the response head; default 30,000. `0`: no limit but the signal. */
  readonly headTimeoutMs?: number;
  /** Milliseconds without a byte of the body; default 300,000. `0`: no limit but the signal. */
  readonly idleTimeoutMs?: number;
  /** Cap on body bytes after decompression. Beyond it the stream ends with `message_too_large`. */
  readonly maxBodyBytes: number;
  /** True: use a fresh socket or one used within the last second. */
  readonly needsFreshSocket?: boolean;
}

/** Names to values, of the configuration. */
export type CallerHeaders = Readonly<Record<string, string>>;

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; several values of one name are joined by `, ` except `set-cookie`, which is dropped. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed chunks. Must be read to its end or cancelled (`return()`), else the socket leaks. */
  readonly body: HttpBody;
}

export interface HttpBody extends AsyncIterable<Uint8Array> {
  /** Takes all chunks, where the body has come to its end already: a small one mostly has. `undefined`: iterate. */
  readonly takeWhole?: () => readonly Uint8Array[] | undefined;
}

export interface HttpPort {
  /**
   * @throws PortcullisError `egress_denied` (rules), `connection_lost` (with `data.wasSent`: could the request have
   * reached the server, and `data.wasReused`: had the socket carried an exchange before), `timed_out`,
   * `message_too_large`, `protocol_error` (not HTTP), `config_invalid` (a header that HTTP does not allow); or the
   * signal's reason. Iterating the body throws the same.
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Ends every socket; resolves when they are gone. */
  close(): Promise<void>;
}
