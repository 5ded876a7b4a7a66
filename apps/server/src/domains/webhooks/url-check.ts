import { type Environment, fail } from '@parley/contract';
import { type AddressPolicy, bare, isAddressAllowed, isLiteral, isPortAllowed } from './address-guard.ts';

export interface UrlRules {
  /** The instance runs with NODE_ENV=production. */
  isProduction: boolean;
  /** WEBHOOK_ALLOW_PRIVATE. */
  allowPrivate: boolean;
}

/** Where an endpoint of this environment may send to. Decided by the endpoint, not by the process, but for loopback. */
export const policyFor = (environment: Environment, { isProduction, allowPrivate }: UrlRules): AddressPolicy => ({
  allowsLoopback: !isProduction && environment === 'DEVELOPMENT',
  allowsPrivate: allowPrivate,
});

const internalSuffixes = ['.localhost', '.local', '.internal', '.home.arpa'];
const metadataNames = ['metadata.google.internal', 'metadata.goog'];

/** The check at registration, by the text alone. No name is resolved here. */
export function checkWebhookUrl(text: string, environment: Environment, rules: UrlRules): void {
  const problem = urlProblem(text, environment, rules);
  if (problem !== null) fail('SVC_INVALID_WEBHOOK_URL', { message: problem });
}

/** True when requests of this environment may go there, as far as the text says. */
export const isUrlAllowed = (text: string, environment: Environment, rules: UrlRules): boolean =>
  urlProblem(text, environment, rules) === null;

function urlProblem(text: string, environment: Environment, rules: UrlRules): string | null {
  // The URL parser drops tabs and newlines and turns backslashes into slashes: what is stored must be what is checked.
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || hasControlCharacter(text) || !URL.canParse(text))
    return 'url must be an absolute http or https URL without spaces.';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'url must not hold a user name or password.';
  if (environment === 'PRODUCTION' && url.protocol !== 'https:') return 'url must use https in production.';
  if (!isPortAllowed(portOf(url))) return `url uses port ${portOf(url)}, which webhooks may not.`;
  if (!isHostAllowed(url.hostname, policyFor(environment, rules)))
    return 'url points to an internal host. Webhooks go to public hosts; loopback is for development endpoints.';
  return null;
}

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

function isHostAllowed(hostname: string, policy: AddressPolicy): boolean {
  if (isLiteral(hostname)) return isAddressAllowed(bare(hostname), policy);
  const name = hostname.toLowerCase().replace(/\.+$/, '');
  if (name === '' || metadataNames.includes(name)) return false;
  if (isLoopbackName(name)) return policy.allowsLoopback || policy.allowsPrivate;
  const isInternal = !name.includes('.') || internalSuffixes.some((suffix) => name.endsWith(suffix));
  return !isInternal || policy.allowsPrivate;
}

/** Names that mean this machine, whatever a name server says. */
export const isLoopbackName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

function hasControlCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 33 || text.charCodeAt(at) === 127) return true;
  return !text.isWellFormed();
}
