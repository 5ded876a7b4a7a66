export interface Closing {
  close(): Promise<void>;
}

/** One after the other: what was built on something is closed before it. One that fails keeps no other open. */
export async function closeAll(parts: readonly Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) await part.close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
