import type { Channel, Session } from "./generated/muxgate.js";
import type { AdjustCounts, SocketStats, TunnelStats } from "./types.js";

type Flat<T> = Omit<T, "adjustsSent"> & Record<`${keyof AdjustCounts}AdjustsSent`, number>;

export function socketStats(channel: Channel): SocketStats {
  return nested(channel.stats() as Flat<SocketStats>);
}

export function tunnelStats(session: Session): TunnelStats {
  return nested(session.stats() as Flat<TunnelStats>);
}

function nested<T>({ lazyAdjustsSent, urgentAdjustsSent, mustAdjustsSent, ...rest }: Flat<T>): T {
  const adjustsSent = { lazy: lazyAdjustsSent, urgent: urgentAdjustsSent, must: mustAdjustsSent };
  return { ...rest, adjustsSent } as T;
}

const NOTHING = { bytesSent: 0, bytesReceived: 0, adjustsReceived: 0, stalls: 0, unread: 0 };
const NO_ADJUSTS = { lazy: 0, urgent: 0, must: 0 };

export function noSocketStats(): SocketStats {
  return { ...NOTHING, adjustsSent: { ...NO_ADJUSTS }, window: 0, receiveCredit: 0, sendCredit: 0, unsent: 0 };
}

export function noTunnelStats(): TunnelStats {
  const channels = { channels: 0, channelsOpened: 0, opensFailed: 0 };
  return {
    ...NOTHING, ...channels, adjustsSent: { ...NO_ADJUSTS }, framesSent: 0, framesReceived: 0, promised: 0, glitches: 0,
  };
}
