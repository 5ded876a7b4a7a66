/** One connection's place in one conversation. */
export interface Place {
  conversationId: string;
  userId: string;
  connectionId: string;
  status: 'ONLINE' | 'AWAY';
  since: number;
  /** When the connection last sent something. */
  lastSeenAt: number;
  stored: Stored;
}

/** The user of a place, in its conversation. */
export const keyOf = ({ conversationId, userId }: Place): string => `${conversationId}/${userId}`;

/** What the shared store says of a place, as far as that is known: then it need not be written again. */
export interface Stored {
  seen: Shown | null;
}

/** What is to be seen of a place beside who it is. */
export interface Shown extends Pick<Place, 'status' | 'since'> {
  /** In seconds; null while it sends heartbeats. */
  lastSeen: number | null;
  /** How often the shared store may have lost everything before. */
  losses: number;
}

/** Connections of a conversation, each with who it is. */
export const connectionsOf = (conversationId: string): string => `presence/${conversationId}`;
/** Those of its users who were last published as away: none of their connections is online. */
export const awayOf = (conversationId: string): string => `away/${conversationId}`;
/** Forgotten when they come or go; this is for what a killed process left. */
export const awayTtlMs = 24 * 60 * 60 * 1000;
/** Its users: enter and leave are published once a user, however many tabs they have. */
export const usersOf = (conversationId: string): string => `present/${conversationId}`;

/** One connection of a user, as it was written. */
export interface Seen extends Pick<Place, 'userId' | 'status' | 'since' | 'lastSeenAt'> {
  /** Heard not long before it was refreshed, also by a refresh that did not write it. */
  beats?: boolean;
}

/** A user is online while any of their tabs is. */
export const combined = (own: readonly Seen[]): Place['status'] =>
  own.some(({ status }) => status === 'ONLINE') ? 'ONLINE' : 'AWAY';

export function byUser(all: readonly Seen[]): Map<string, Seen[]> {
  const users = new Map<string, Seen[]>();
  for (const one of all) {
    const own = users.get(one.userId);
    if (own) own.push(one);
    else users.set(one.userId, [one]);
  }
  return users;
}
