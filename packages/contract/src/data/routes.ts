import { Type } from 'typebox';
import { routes } from '../route.ts';
import { EnvironmentQuery, PageQuery } from '../schema.ts';
import { ImportConversations, ImportUpload } from './import-schemas.ts';
import { DataJob, DataJobKind, DataJobMetadata, EraseUser } from './schemas.ts';

const key = ['apiKey'] as const;

/** Whose data it is: what is stored of a user is handed out, or goes. */
export const dataRoutes = routes({
  exportUser: {
    at: 'POST /v1/users/{userId}/export',
    sdk: 'users.export',
    scope: 'users',
    by: key,
    budget: 60,
    audit: 'data_job.created',
    returns: [202, DataJob, 200],
    throws: ['SVC_VALIDATION_FAILED', 'SVC_QUOTA_EXCEEDED'],
    does: 'Begins to write everything that is stored of a user into one NDJSON file; a second call while it runs finds the first.',
  },
  eraseUser: {
    at: 'POST /v1/users/{userId}/erase',
    sdk: 'users.erase',
    scope: 'users',
    by: key,
    budget: 60,
    audit: 'data_job.created',
    body: EraseUser,
    returns: [202, DataJob, 200],
    throws: ['SVC_QUOTA_EXCEEDED'],
    does: 'Voids every token of a user and begins to erase what is stored of them; a second call while it runs finds the first.',
  },
  importConversations: {
    at: 'POST /v1/chat/import',
    sdk: 'chat.imports.create',
    scope: 'chat',
    by: key,
    budget: 60,
    audit: 'data_job.created',
    body: ImportConversations,
    returns: [202, ImportUpload],
    throws: ['SVC_QUOTA_EXCEEDED', 'SVC_ATTACHMENT_TOO_LARGE'],
    does: 'Says where to upload an NDJSON file of conversations with their members, messages, reactions and read marks.',
  },
  startImport: {
    at: 'POST /v1/chat/import/{jobId}/start',
    sdk: 'chat.imports.start',
    scope: 'chat',
    by: key,
    budget: 60,
    returns: [202, DataJob],
    throws: ['SVC_DATA_JOB_NOT_FOUND', 'SVC_ATTACHMENT_NOT_UPLOADED', 'SVC_ATTACHMENT_SIZE_MISMATCH'],
    does: 'Begins to read the file that was uploaded; called again it changes nothing.',
  },
  listDataJobs: {
    at: 'GET /v1/data-jobs',
    sdk: 'dataJobs.list',
    scope: 'users',
    by: key,
    query: Type.Object({ ...PageQuery, kind: Type.Optional(DataJobKind) }),
    paged: true,
    returns: [200, Type.Array(DataJob)],
    does: 'Lists exports, erasures and imports of the last 30 days, newest first.',
  },
  listProjectDataJobs: {
    at: 'GET /v1/projects/{projectId}/data-jobs',
    by: ['session'],
    needs: 'chat:read',
    query: Type.Object({ ...EnvironmentQuery, ...PageQuery, kind: Type.Optional(DataJobKind) }),
    paged: true,
    returns: [200, Type.Array(DataJobMetadata)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Lists exports, erasures and imports of the last 30 days, newest first, without a way to their files.',
  },
  getDataJob: {
    at: 'GET /v1/data-jobs/{jobId}',
    sdk: 'dataJobs.get',
    scope: 'users',
    by: key,
    returns: [200, DataJob],
    throws: ['SVC_DATA_JOB_NOT_FOUND'],
    does: 'Reads how far an export, erasure or import is, and where the file of an export can be fetched.',
  },
});
