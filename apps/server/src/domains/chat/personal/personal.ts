import type { ExportPart, PersonalData } from '../../../core/personal-data.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { listShadowOf } from '../shadow/shadow-upkeep-store.ts';
import { createErasures, type EraseDeps } from './erase.ts';
import {
  listBlocksOf,
  listConnectionsOf,
  listDraftsOf,
  listFilesOf,
  listMemberships,
  listMessagesOf,
  listProfile,
  listReportsOf,
  listSanctionsOf,
  listScheduledOf,
  listVotesOf,
} from './export-store.ts';
import { scanReactions } from './walk-store.ts';

interface PersonalDeps extends EraseDeps {
  attachments: Pick<Attachments, 'sweep' | 'linkTo'>;
  /** How long what an export links to can be fetched. */
  linkSeconds: number;
}

/** Rows of a table that one statement looks at. */
const scannedMax = 5_000;

/** What chat has of a user. */
export function createPersonalData(deps: PersonalDeps): PersonalData {
  const { db, attachments, linkSeconds } = deps;

  const files: ExportPart = {
    kind: 'attachment',
    async page(person, place) {
      const { rows, next } = await listFilesOf(db, person, place, scannedMax);
      const linked = rows.map(async (file) => {
        const { blobKey: _ours, environment: _known, ...shown } = file;
        const isKept = file.status === 'UPLOADED' || file.status === 'ATTACHED';
        const isThere = isKept && file.scan !== 'PENDING' && file.scan !== 'REJECTED';
        return { ...shown, url: isThere ? await attachments.linkTo(file, linkSeconds) : null };
      });
      return { rows: await Promise.all(linked), next };
    },
  };

  const reactions: ExportPart = {
    kind: 'reaction',
    async page(person, place) {
      const { rows, next } = await scanReactions(db, person, place, scannedMax);
      return { rows: rows.map(({ conversationUuid: _ours, ...reaction }) => reaction), next };
    },
  };

  return {
    exports: [
      { kind: 'profile', page: (person) => listProfile(db, person) },
      { kind: 'membership', page: (person, place) => listMemberships(db, person, place) },
      { kind: 'message', page: (person, place, limit) => listMessagesOf(db, person, place, limit) },
      { kind: 'message', page: (person, place, limit) => listShadowOf(db, person, place, limit) },
      reactions,
      { kind: 'vote', page: (person, place, limit) => listVotesOf(db, person, place, limit) },
      files,
      { kind: 'scheduled_message', page: (person, place, limit) => listScheduledOf(db, person, place, limit) },
      { kind: 'draft', page: (person, place) => listDraftsOf(db, person, place) },
      { kind: 'sanction', page: (person) => listSanctionsOf(db, person) },
      { kind: 'block', page: (person, place, limit) => listBlocksOf(db, person, place, limit) },
      { kind: 'report', page: (person, place, limit) => listReportsOf(db, person, place, limit) },
      { kind: 'chat_connection', page: (person, place, limit) => listConnectionsOf(db, person, place, limit) },
    ],
    erasures: createErasures(deps),
  };
}
