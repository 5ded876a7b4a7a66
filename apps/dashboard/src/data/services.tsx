import type { User } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { createContext, use, useSyncExternalStore } from 'react';
import type { Proofs } from '../accounts/factors/proofs.ts';
import type { SessionState, SessionStore } from '../accounts/session.ts';

/** What pages stand on: the two clients and the session. */
interface Services {
  /** Calls as the signed-in person. */
  api: Api;
  /** Calls without a credential: signing in, mail links. */
  anonymous: Api;
  session: SessionStore;
  /** What a call turned out to need of the person. */
  proofs: Proofs;
  /** Development conveniences are on: the server said so in the page. */
  isDevelopment: boolean;
}

const ServicesContext = createContext<Services | null>(null);
export const ServicesProvider = ServicesContext.Provider;

export function useServices(): Services {
  const services = use(ServicesContext);
  if (!services) throw new Error('no services above this component');
  return services;
}

export const useApi = (): Api => useServices().api;

export function useSession(): SessionState {
  const { session } = useServices();
  return useSyncExternalStore(session.subscribe, session.state);
}

/** The user of a page that requires a session. */
export function useUser(): User {
  const session = useSession();
  if (session.kind !== 'signedIn' && session.kind !== 'expired') throw new Error('nobody is signed in');
  return session.user;
}
