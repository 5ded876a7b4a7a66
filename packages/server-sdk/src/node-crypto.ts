/** Node's own cryptography where the runtime has it, without an import, which an edge runtime's bundler would stumble over. */
export function nodeCrypto(): typeof import('node:crypto') | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: 'node:crypto') => unknown } };
  return process?.getBuiltinModule?.('node:crypto') as typeof import('node:crypto') | undefined;
}
