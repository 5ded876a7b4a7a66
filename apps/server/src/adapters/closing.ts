export interface Closing {
  close(): Promise<void>;
}

/** One after the other: what was built on something is closed before it. */
export async function closeAll(parts: readonly Closing[]): Promise<void> {
  for (const part of parts) await part.close();
}
