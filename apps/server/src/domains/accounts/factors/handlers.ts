import type { factorRoutes, Session } from '@parley/contract';
import type { Answer, Handlers, RequestInfo } from '../../../core/handlers.ts';
import type { createOwnFactors } from './own-factors.ts';
import type { Entry, SecondStep } from './second-step.ts';
import type { StepUp } from './step-up.ts';

export interface FactorHandlerDeps {
  secondStep: SecondStep;
  stepUp: StepUp;
  ownFactors: ReturnType<typeof createOwnFactors>;
  /** The answer of a sign-in. */
  signedIn: (entering: Promise<Entry>, request: RequestInfo, how: { method: string }) => Promise<Answer<Session>>;
}

export const createFactorHandlers = ({
  secondStep,
  stepUp,
  ownFactors,
  signedIn,
}: FactorHandlerDeps): Handlers<typeof factorRoutes> => ({
  finishLogin: ({ body, request }) => signedIn(secondStep.finish(body, request), request, { method: 'SECOND_FACTOR' }),
  startPasskeyLogin: () => secondStep.startPasskey(),
  loginWithPasskey: ({ body, request }) =>
    signedIn(secondStep.finishPasskey(body.passkey, request), request, { method: 'PASSKEY' }),
  startStepUp: ({ caller }) => stepUp.start(caller),
  stepUp: async ({ caller, body, request }) => {
    await stepUp.prove(caller, body, request);
    return undefined;
  },
  getFactors: ({ caller }) => ownFactors.list(caller),
  startTotp: ({ caller }) => ownFactors.startTotp(caller),
  confirmTotp: ({ caller, body, request }) => ownFactors.confirmTotp(caller, body.code, request),
  removeTotp: async ({ caller, request }) => {
    await ownFactors.removeTotp(caller, request);
    return undefined;
  },
  startPasskey: ({ caller }) => ownFactors.startPasskey(caller),
  addPasskey: ({ caller, body, request }) => ownFactors.addPasskey(caller, body, request),
  renamePasskey: ({ caller, params, body }) => ownFactors.renamePasskey(caller, params.passkeyId, body.name),
  removePasskey: async ({ caller, params, request }) => {
    await ownFactors.removePasskey(caller, params.passkeyId, request);
    return undefined;
  },
  renewRecoveryCodes: ({ caller, request }) => ownFactors.renewCodes(caller, request),
});
