import assert from 'node:assert/strict';
import type { Message } from '@parley/contract';
import { eventually } from '../kit/eventually.ts';
import type { ChatOf, ChatUser } from './chat.ts';

export const textsOf = (messages: readonly { text: string | null }[]): (string | null)[] =>
  messages.map(({ text }) => text);

export const say = ({ api }: Pick<ChatUser, 'api'>, room: string, text: string, more: object = {}): Promise<Message> =>
  api.call('sendMessage', { room, body: { text, ...more } });

/** A conversation of Ann, a moderator, and Eve, whom `put` puts into the shadow. */
export async function withEve(chat: ChatOf) {
  const { id: room, uuid } = await chat.conversation(['ann', 'eve', { userId: 'mod', role: 'MODERATOR' }]);
  const [ann, eve, mod] = await Promise.all([chat.user('ann'), chat.user('eve'), chat.user('mod')]);
  const put = () => chat.project.api.call('shadowInConversation', { room, userId: 'eve' });
  return { room, uuid, ann, eve, mod, put };
}

/** The two ways into the shadow; each gives the way out. */
export const places = {
  'in the conversation': async ({ project: { api } }: ChatOf, room: string) => {
    await api.call('shadowInConversation', { room, userId: 'eve' });
    return () => api.call('unshadowInConversation', { room, userId: 'eve' });
  },
  'in the environment': async ({ project: { api }, ...chat }: ChatOf) => {
    await api.call('shadowInChat', { userId: 'eve' });
    const { id: room } = await chat.conversation(['eve']);
    const eve = await chat.user('eve');
    // Servers know of it within two seconds.
    await eventually(async () => {
      await say(eve, room, 'is it dark?');
      assert.equal((await api.call('listShadowMessages', { room })).length, 1);
    });
    return async () => {
      await api.call('unshadowInChat', { userId: 'eve' });
      await eventually(async () => assert.notEqual((await say(eve, room, 'is it light?')).seq, 0));
    };
  },
};

/** The id of a file that can be sent. */
export async function uploaded({ api }: ChatUser, room: string): Promise<string> {
  const { attachment, uploadUrl, headers } = await api.call('requestAttachment', {
    room,
    body: { filename: 'a.txt', mimeType: 'text/plain', size: 5 },
  });
  await fetch(uploadUrl, { method: 'PUT', headers, body: 'Hello' });
  await api.call('completeAttachment', { attachmentId: attachment.id });
  return attachment.id;
}
