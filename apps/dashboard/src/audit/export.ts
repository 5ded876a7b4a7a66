import { addressOf, errorOf } from '@parley/server/call';

interface AuditExport {
  projectId: string;
  /** Those of the page; without one, everything of the last 30 days. */
  filters: Readonly<Record<string, string>>;
  accessToken: string;
}

/** Fetches the log as a file and hands it to the browser's downloads. */
export async function exportAuditLog({ projectId, filters, accessToken }: AuditExport): Promise<void> {
  const { url } = addressOf('GET /v1/projects/{projectId}/audit-logs/export', { projectId }, filters);
  const response = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } });
  if (!response.ok) throw errorOf(response.status, await response.text(), response.headers, '');
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = `audit-${projectId}.ndjson`;
  link.click();
  URL.revokeObjectURL(address);
}
