/** Why something failed. The first eight are what the gateway says about a destination. */
export type SocketErrorCode =
  | "GENERAL_FAILURE"
  | "NOT_ALLOWED"
  | "NETWORK_UNREACHABLE"
  | "HOST_UNREACHABLE"
  | "CONNECTION_REFUSED"
  | "TTL_EXPIRED"
  | "ADDRESS_TYPE_NOT_SUPPORTED"
  /** The gateway did not answer in time. */
  | "OPEN_TIMED_OUT"
  | "TOO_MANY_CONNECTIONS"
  | "INVALID_ADDRESS"
  /** The destination broke the connection off. */
  | "CONNECTION_RESET"
  /** The other side has closed: nobody reads what is written. */
  | "CONNECTION_CLOSED"
  /** This direction was ended before. */
  | "WRITE_AFTER_END"
  /** `close()` was called. */
  | "CLOSED"
  /** An open was given up. */
  | "ABORTED"
  /** The WebSocket could not be opened, or was lost. See `closeCode` and `closeReason`. */
  | "TUNNEL_FAILED"
  /** The session ended in good order, on either side. */
  | "TUNNEL_CLOSED"
  /** The gateway broke the rules of JMUX. */
  | "PROTOCOL_ERROR"
  /** TLS was asked for, and there is nobody to provide it. */
  | "TLS_UNAVAILABLE"
  /** The wasm file could not be loaded. */
  | "WASM_FAILED"
  /** An option is missing or wrong. */
  | "INVALID_OPTION";

/** What is known about the end of the WebSocket, if that was the cause. */
export interface SocketErrorDetails {
  cause?: unknown;
  closeCode?: number;
  closeReason?: string;
}

/** Every failure of a socket or a tunnel. The message begins with "SocketError: ". */
export class SocketError extends TypeError {
  readonly code: SocketErrorCode;
  /** The WebSocket's close code: 1006 if the connection was lost without one. */
  readonly closeCode: number | undefined;
  /** The gateway's words behind the close code. */
  readonly closeReason: string | undefined;

  constructor(code: SocketErrorCode, message: string, details: SocketErrorDetails = {}) {
    super(`SocketError: ${message}`, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.closeCode = details.closeCode;
    this.closeReason = details.closeReason;
  }

  override get name(): string {
    return "SocketError";
  }
}

/** An error of the wasm module, which has a code and no class, as a `SocketError`. Others stay what they are. */
export function toSocketError(error: unknown): unknown {
  if (error instanceof SocketError || !(error instanceof Error) || !("code" in error)) return error;
  const { code, message, closeCode, closeReason } = error as Error & { code: SocketErrorCode } & SocketErrorDetails;
  return new SocketError(code, message, {
    ...(closeCode === undefined ? {} : { closeCode }),
    ...(closeReason === undefined ? {} : { closeReason }),
  });
}

export function connectionReset(): SocketError {
  return new SocketError("CONNECTION_RESET", "the destination broke the connection off");
}
