import type { AllRoutes, BodyOf, RouteName } from '@parley/contract';
import { mediaOffer } from '../../clients/media-offer.ts';
import { sampleBody } from '../../kit/sample-body.ts';
import { OWNER } from '../../kit/world.ts';
import type { ProtocolNode } from '../../peers/protocol-node.ts';
import type { Route } from './table.ts';

/** What is sent besides the path and the credential. */
export interface Sent {
  query: string;
  contentType?: string;
  body?: string;
}

type Bodies = { [N in RouteName]?: () => BodyOf<AllRoutes[N]> };

/** An API key names the user it speaks for. */
const QUERIES: Partial<Record<RouteName, string>> = {
  getReadState: `?userId=${OWNER}`,
  removeReaction: `?userId=${OWNER}`,
};

/** One request to each route that its row accepts, so that only the credential or the id can be wrong. */
export function createRequests(node: ProtocolNode): (route: Route) => Sent {
  let made = 0;
  const newName = (): string => `made-${++made}`;
  // A sample of the schema does for the others.
  const bodies: Bodies = {
    createRoom: () => ({ name: newName() }),
    createProjectRoom: () => ({ name: newName() }),
    createConversation: () => ({ name: newName() }),
    addConversationMember: () => ({ userId: newName() }),
    changeConversationMember: () => ({ role: 'MODERATOR' }),
    sendMessage: () => ({ text: 'x', senderId: OWNER }),
    editMessage: () => ({ text: 'y' }),
    addReaction: () => ({ emoji: '👍', userId: OWNER }),
    markRead: () => ({ userId: OWNER }),
    registerHost: () => ({ identity: newName() }),
    addProjectMember: () => ({ email: `${newName()}@example.com`, role: 'VIEWER' }),
    changeProjectMember: () => ({ role: 'DEVELOPER' }),
    updateProjectSecurity: () => ({ requireSecondFactor: false }),
    recoverWebhook: () => ({ since: new Date().toISOString() }),
    silenceAlert: () => ({ until: null }),
    silenceProjectAlert: () => ({ until: null }),
    createWebhook: () => ({ url: 'https://hooks.example.com/made' }),
    registerServer: () => ({
      name: node.name,
      region: 'default',
      publicHost: '127.0.0.1',
      internalUrl: node.internalUrl,
    }),
    publishByWhip: () => mediaOffer('sendonly'),
    watchByWhep: () => mediaOffer('recvonly'),
    trickleWhip: () => 'a=ice-ufrag:offr\r\n',
    trickleWhep: () => 'a=ice-ufrag:offr\r\n',
  };

  return ({ name, row, method }) => {
    const query = QUERIES[name] ?? '';
    const body = bodies[name]?.();
    if (row.speaks !== undefined) return { query, contentType: row.speaks, body: String(body) };
    const sent = body === undefined ? sampleBody(row) : { body: JSON.stringify(body) };
    return method === 'GET' || sent.body === undefined
      ? { query }
      : { query, contentType: 'application/json', ...sent };
  };
}
