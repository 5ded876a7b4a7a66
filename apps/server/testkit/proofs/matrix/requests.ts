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
  listPushDevices: `?userId=${OWNER}`,
  getPushPreferences: `?userId=${OWNER}`,
  removeReaction: `?userId=${OWNER}`,
  searchMessages: '?q=x',
  pinMessage: `?userId=${OWNER}`,
  retractVote: `?userId=${OWNER}`,
  setDraft: `?userId=${OWNER}`,
  getDraft: `?userId=${OWNER}`,
  deleteDraft: `?userId=${OWNER}`,
  listDrafts: `?userId=${OWNER}`,
  listBlocks: `?userId=${OWNER}`,
  blockUser: `?userId=${OWNER}`,
  unblockUser: `?userId=${OWNER}`,
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
    openDirectConversation: () => ({ userIds: [OWNER, newName()] }),
    putChatUsers: () => ({ users: [{ userId: newName(), name: 'x' }] }),
    changeInboxEntry: () => ({ pinned: true, userId: OWNER }),
    markUnread: () => ({ userId: OWNER }),
    markDelivered: () => ({ seq: 1, userId: OWNER }),
    scheduleMessage: () => ({ text: 'x', senderId: OWNER, sendAt: new Date(Date.now() + 3_600_000).toISOString() }),
    changeScheduled: () => ({ text: 'y' }),
    addReaction: () => ({ emoji: '👍', userId: OWNER }),
    castVote: () => ({ optionIds: [1], userId: OWNER }),
    markRead: () => ({ userId: OWNER }),
    putPushDevice: () => ({ kind: 'FCM', token: newName(), userId: OWNER }),
    setPushPreferences: () => ({ level: 'ALL', userId: OWNER }),
    registerHost: () => ({ identity: newName() }),
    addProjectMember: () => ({ email: `${newName()}@example.com`, role: 'VIEWER' }),
    changeProjectMember: () => ({ role: 'DEVELOPER' }),
    updateProjectSecurity: () => ({ requireSecondFactor: false }),
    // The server's clock follows the database's, and may be some ms behind.
    recoverWebhook: () => ({ since: new Date(Date.now() - 1_000).toISOString() }),
    silenceAlert: () => ({ until: null }),
    silenceProjectAlert: () => ({ until: null }),
    setModerationHook: () => ({ url: 'https://hooks.example.com/made' }),
    setProjectModerationHook: () => ({ url: 'https://hooks.example.com/made' }),
    setScanHook: () => ({ url: 'https://hooks.example.com/made' }),
    setProjectScanHook: () => ({ url: 'https://hooks.example.com/made' }),
    setScanResult: () => ({ result: 'CLEAN' }),
    setLinkPreviews: () => ({ enabled: false }),
    setProjectLinkPreviews: () => ({ enabled: false }),
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
