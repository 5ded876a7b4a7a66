import { addressOf, errorOf } from '@parley/server/call';

interface Download {
  at: `GET /${string}`;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  name: string;
  accessToken: string;
}

/** Fetches a file and hands it to the browser's downloads. */
export async function download({ at, params, query, name, accessToken }: Download): Promise<void> {
  const { url } = addressOf(at, params, query);
  const response = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } });
  if (!response.ok) throw errorOf(response.status, await response.text(), response.headers, '');
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
