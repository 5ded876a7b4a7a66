import type { ClientFrameTable, LimitName, ServerFrameTable } from '@parley/contract';
import type { SocketDefinition, SocketSession } from '../core/socket.ts';
import { createConnection, type LiveConnection, type Wire } from './connection.ts';
import { createFrameRoutes } from './frame-reader.ts';
import type { ConnectionDeps, Visitor } from './states/state.ts';
import { createUpgrade, type Offer, type Upgrade } from './upgrade.ts';

/** One socket of the service, ready for connections. */
export interface Endpoint {
  path: string;
  subprotocol: string;
  attemptBudget: LimitName | undefined;
  handshake: Upgrade;
  connect(wire: Wire, visitor: Visitor, offer: Offer): LiveConnection;
}

export function createEndpoint<S extends SocketSession, F extends ClientFrameTable, V extends ServerFrameTable>(
  definition: SocketDefinition<S, F, V>,
  deps: ConnectionDeps,
): Endpoint {
  const { path, subprotocol, attemptBudget } = definition;
  const routes = createFrameRoutes(definition);
  return {
    path,
    subprotocol,
    attemptBudget,
    handshake: createUpgrade(definition),
    connect: (wire, visitor, offer) => createConnection(definition, routes, wire, visitor, offer, deps),
  };
}
