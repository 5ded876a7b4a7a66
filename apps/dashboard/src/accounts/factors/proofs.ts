import type { FactorChallenge, FactorProof, Session, StepUp } from '@parley/contract';
import type { Api } from '@parley/server/call';

/** What the person is asked to prove, until they did or gave up. */
export interface Asked {
  kind: 'signIn' | 'stepUp';
  challenge: FactorChallenge;
  submit(proof: StepUp): Promise<void>;
  giveUp(): void;
}

/** Proofs that a call turned out to need: a dialog over the page takes them, and the call goes on. */
export interface Proofs {
  asked(): Asked | null;
  subscribe(onChange: () => void): () => void;
  /** Ends a sign-in that lacks the second factor. */
  finishLogin(anonymous: Api, challenge: FactorChallenge): Promise<Session>;
  /** Proves again who is there. */
  stepUp(api: Api): Promise<void>;
}

/** The person closed the dialog. */
export class GivenUp extends Error {}

export function createProofs(): Proofs {
  const listeners = new Set<() => void>();
  let asked: Asked | null = null;
  let steppingUp: Promise<void> | null = null;

  function set(next: Asked | null): void {
    asked = next;
    for (const listener of listeners) listener();
  }

  /** Shows the dialog until a proof was taken. A refusal is the dialog's to show. */
  function ask<T>(kind: Asked['kind'], challenge: FactorChallenge, take: (proof: StepUp) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      set({
        kind,
        challenge,
        async submit(proof) {
          const taken = await take(proof);
          set(null);
          resolve(taken);
        },
        giveUp() {
          set(null);
          reject(new GivenUp());
        },
      });
    });
  }

  async function askAgain(api: Api): Promise<void> {
    await ask('stepUp', await api.call('startStepUp'), (body) => api.call('stepUp', { body }));
  }

  return {
    asked: () => asked,
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    finishLogin: (anonymous, challenge) =>
      ask('signIn', challenge, (proof: FactorProof) =>
        anonymous.call('finishLogin', { body: { challenge: challenge.challenge, ...proof } }),
      ),
    // Calls that need it at the same time share one dialog.
    stepUp: (api) =>
      (steppingUp ??= askAgain(api).finally(() => {
        steppingUp = null;
      })),
  };
}
