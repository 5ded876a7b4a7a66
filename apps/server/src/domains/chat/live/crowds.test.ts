import { after, before, test } from 'node:test';
import { createChatKit } from '../../../../testkit/chat/chat.ts';
import { startService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import {
  addOneMember,
  beginUploads,
  type CrowdStage,
  createOneName,
  markRead,
  openOneDirect,
  retryOneMessage,
  sendOneAttachment,
  subscribeAtOnce,
} from '../../../../testkit/proofs/chat-crowds.ts';

/** A small part of tools/proof/crowds.ts. */
const crowd = 80;
let stage: CrowdStage;
before(async () => {
  const service = await sharedService();
  stage = { service, second: await startService({ beside: service }), chat: await createChatKit(service), crowd };
});
after(() => stage.second.stop());

test('[CONV-2] a crowd creates a conversation of one name: one is made', () => createOneName(stage));

test('[DIR-2] 400 at once open the direct conversation of the same people: one is made', () =>
  openOneDirect({ ...stage, crowd: 400 }));

test('[MEM-2] a crowd adds one user: one member, one change', () => addOneMember(stage));

test('[MSG-5] a crowd of retries with one clientMessageId: one message, one answer, no number lost', () =>
  retryOneMessage(stage));

test('[ATT-6] a crowd sends one attachment: one message has it', () => sendOneAttachment(stage));

test('[ATT-9] uploads begun at once: exactly 50 of one user, and none counts in the other environment', () =>
  beginUploads(stage));

test('[READ-2] a crowd of marks at once: the furthest stays', () => markRead(stage));

test('[CHATWS-6] 400 subscriptions asked for at once on one socket: exactly 20 are there', () =>
  subscribeAtOnce(stage));
