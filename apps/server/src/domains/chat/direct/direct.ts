import { createHash, randomBytes } from 'node:crypto';
import { type Conversation, directPeople, type directRoutes, fail, type OpenDirect } from '@parley/contract';
import { type Db, isDuplicate } from '../../../core/db.ts';
import { Answer, type Handlers } from '../../../core/handlers.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { isBetween } from '../blocks/block-store.ts';
import { assertScope, type ChatCaller, isListed } from '../callers.ts';
import { lockEntry } from '../conversations/conversation-store.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { createKeyedQueue } from '../conversations/keyed-queue.ts';
import type { Members } from '../conversations/members.ts';
import type { ConversationDraft } from '../conversations/provision.ts';
import type { Admission } from '../moderation/admission.ts';
import { type DirectEntry, findDirect } from './direct-store.ts';

interface DirectDeps {
  db: Db;
  unitOfWork: UnitOfWork;
  conversations: Conversations;
  members: Members;
  admission: Pick<Admission, 'isBanned'>;
}

type Direct = ReturnType<typeof createDirect>;

/** A conversation may be erased while it is opened: then the next attempt makes another. */
const attemptsMax = 5;

/** The one conversation of exactly these people. A unique index decides who makes it, not this process (ADR 0181). */
export function createDirect({ db, unitOfWork, conversations, members, admission }: DirectDeps) {
  // A courtesy to the pool: of many who ask here for the same people one goes to the database.
  const inOrder = createKeyedQueue();

  async function open(caller: ChatCaller, { userIds }: OpenDirect): Promise<Answer<Conversation>> {
    assertScope(caller, 'chat:edit');
    assertScope(caller, 'chat:read');
    const people = peopleOf(userIds);
    if (caller.kind === 'chatToken' && !people.includes(caller.userId)) {
      fail('SVC_FORBIDDEN', { message: 'A chat token opens direct conversations of its own user.' });
    }
    await assertInTouch(caller, people);
    const key = keyOf(people);
    const known = await findDirect(db, caller, key);
    const { publicId, isNew } = isReady(caller, known)
      ? { publicId: known.publicId, isNew: false }
      : await inOrder(`${caller.projectId} ${caller.environment} ${key}`, () => findOrMake(caller, people, key));
    return new Answer(await conversations.get(caller, publicId), { isRepeat: !isNew });
  }

  /** Of two of whom one has blocked the other neither opens it; which of them it is, is not said. */
  async function assertInTouch(caller: ChatCaller, [one = '', other = '', ...more]: readonly string[]): Promise<void> {
    if (caller.kind !== 'chatToken' || more.length > 0) return;
    if (await isBetween(db, caller, one, other)) fail('SVC_CHAT_BLOCKED');
  }

  async function findOrMake(
    caller: ChatCaller,
    people: readonly string[],
    key: string,
  ): Promise<{ publicId: string; isNew: boolean }> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const known = await findDirect(db, caller, key);
      // What a token's list leaves out does not exist for it, and it cannot make more.
      if (caller.kind === 'chatToken' && caller.conversations && !(known && isListed(caller, known.publicId))) {
        fail('SVC_FORBIDDEN', { message: 'This chat token is limited to the conversations it lists.' });
      }
      if (isReady(caller, known) || (known && (await restore(caller, known, people)))) {
        return { publicId: known.publicId, isNew: false };
      }
      const made = known ? undefined : await make(caller, people, key);
      if (made) return { publicId: made.id, isNew: true };
    }
    return fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
  }

  /** Everybody is in it again; false when it was erased meanwhile. */
  const restore = (caller: ChatCaller, { id }: DirectEntry, people: readonly string[]): Promise<boolean> =>
    unitOfWork(caller, async (tx, emit) => {
      const entry = await lockEntry(tx, caller, id, null);
      if (!entry) return false;
      if (caller.kind === 'apiKey') await conversations.reactivate(tx, emit, caller, entry);
      else if (entry.status === 'ARCHIVED') return true;
      for (const userId of people) {
        // Another's ban is not the caller's business: the conversation opens without them.
        const isAnother = caller.kind === 'chatToken' && caller.userId !== userId;
        if (isAnother && (await admission.isBanned(tx, caller, entry.publicId, userId))) continue;
        await members.activate(tx, emit, entry, { userId, role: null, metadata: null });
      }
      return true;
    });

  /** Undefined for who lost the race. */
  async function make(caller: ChatCaller, people: readonly string[], key: string): Promise<Conversation | undefined> {
    const draft: ConversationDraft = {
      // Names are unique and can be taken by anybody: this one cannot be guessed.
      name: `direct-${randomBytes(12).toString('hex')}`,
      type: 'DIRECT',
      roomId: null,
      directKey: key,
      members: people.map((userId) => ({ userId, role: 'MEMBER', metadata: {} })),
      metadata: {},
    };
    try {
      return await unitOfWork(caller, (tx, emit) => conversations.provision(tx, emit, caller, draft));
    } catch (error) {
      if (isDuplicate(error, 'conversations_direct')) return undefined;
      throw error;
    }
  }

  return { open };
}

/** Nothing is to be done. Only an API key archives, and only an API key undoes it: a token gets it as it is. */
function isReady(caller: ChatCaller, known: DirectEntry | undefined): known is DirectEntry {
  if (!known || !isListed(caller, known.publicId)) return false;
  return known.status === 'ARCHIVED' ? caller.kind === 'chatToken' : !known.isIncomplete;
}

function peopleOf(userIds: readonly string[]): string[] {
  const people = [...new Set(userIds)].sort();
  if (people.length < directPeople.min) {
    refuse([{ field: 'userIds', rule: 'minItems', message: `userIds must name ${directPeople.min} people or more.` }]);
  }
  return people;
}

const keyOf = (people: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(people)).digest('base64url');

export const directHandlers = (direct: Direct): Handlers<typeof directRoutes> => ({
  openDirectConversation: ({ caller, body }) => direct.open(caller, body),
});
