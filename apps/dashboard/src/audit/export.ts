import { download } from '../data/download.ts';

interface AuditExport {
  projectId: string;
  /** Those of the page; without one, everything of the last 30 days. */
  filters: Readonly<Record<string, string>>;
  accessToken: string;
}

export const exportAuditLog = ({ projectId, filters, accessToken }: AuditExport): Promise<void> =>
  download({
    at: 'GET /v1/projects/{projectId}/audit-logs/export',
    params: { projectId },
    query: filters,
    name: `audit-${projectId}.ndjson`,
    accessToken,
  });
