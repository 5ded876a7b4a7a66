import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { DataJobKind } from './schemas.ts';

const data = Type.Object({
  jobId: Type.String(),
  kind: DataJobKind,
  /** Records that were handled. */
  progress: Type.Integer(),
  error: Nullable(Type.String()),
  at: Timestamp,
});

/** They name the job, not the user: the event outlives an erasure. */
export const dataEvents = eventRows({
  'data_job.done': { since: '0.1.0', when: 'An export, erasure or import has come to its end.', data },
  'data_job.failed': { since: '0.1.0', when: 'An export, erasure or import was given up; `error` says why.', data },
});
