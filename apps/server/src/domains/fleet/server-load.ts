import type { Queryable, Tx } from '../../core/db.ts';
import { findServer, listServers, lockServer, type StoredServer } from './server-store.ts';

/** How much we placed on a node. */
export interface PlacedLoad {
  serverName: string;
  rooms: number;
  participants: number;
}

/** Counts what was placed on one node, or on each of them; rooms, which owns those rows, supplies it. */
export type CountPlaced = (db: Queryable, serverName?: string) => Promise<readonly PlacedLoad[]>;

export interface ServerWithLoad extends StoredServer {
  placedRooms: number;
  placedParticipants: number;
}

/** Nodes together with what we placed on them. */
export function createServerLoad(countPlaced: CountPlaced) {
  const withLoad = (server: StoredServer, placed: readonly PlacedLoad[]): ServerWithLoad => {
    const own = placed.find(({ serverName }) => serverName === server.name);
    return { ...server, placedRooms: own?.rooms ?? 0, placedParticipants: own?.participants ?? 0 };
  };

  return {
    async list(db: Queryable): Promise<ServerWithLoad[]> {
      const servers = await listServers(db);
      const placed = await countPlaced(db);
      return servers.map((server) => withLoad(server, placed));
    },
    async find(db: Queryable, name: string): Promise<ServerWithLoad | undefined> {
      const server = await findServer(db, name);
      return server && withLoad(server, await countPlaced(db, name));
    },
    /** Takes the node's row first: placing a room there and draining it happen one after the other. */
    async lock(tx: Tx, name: string): Promise<ServerWithLoad | undefined> {
      const server = await lockServer(tx, name);
      return server && withLoad(server, await countPlaced(tx, name));
    },
  };
}

export type ServerLoad = ReturnType<typeof createServerLoad>;
