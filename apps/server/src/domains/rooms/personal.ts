import type { Db } from '../../core/db.ts';
import { type PersonalData, untilNone } from '../../core/personal-data.ts';
import {
  deleteCutoffsOf,
  listSessionsOf,
  listTokensOf,
  renameSessions,
  renameTokens,
  rewriteEvents,
} from './personal-store.ts';

const eventsMax = 5_000;

/** What rooms have of a user: stays, tokens, and events that name them. */
export const createPersonalData = ({ db }: { db: Db }): PersonalData => ({
  exports: [
    { kind: 'room_session', page: (person, place, limit) => listSessionsOf(db, person, place, limit) },
    { kind: 'rtc_token', page: (person, place, limit) => listTokensOf(db, person, place, limit) },
  ],
  erasures: [
    untilNone('room sessions', (erasure, limit) => renameSessions(db, erasure, limit)),
    untilNone('rtc tokens', (erasure, limit) => renameTokens(db, erasure, limit)),
    untilNone('rtc token cutoffs', (erasure, limit) => deleteCutoffsOf(db, erasure, limit)),
    { name: 'room events', run: (erasure, place) => rewriteEvents(db, erasure, place, eventsMax) },
  ],
});
