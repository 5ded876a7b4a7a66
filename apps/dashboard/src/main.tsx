import './styles/fonts.css';
import './styles/tokens.css';
import './styles/layers.css';
import './styles/kit.css';
import './styles/overlays.css';
import './styles/tables.css';
import './styles/figures.css';
import './styles/charts.css';
import './styles/frame.css';
import './styles/pages.css';
import './styles/call.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createProofs } from './accounts/factors/proofs.ts';
import { createSessionStore } from './accounts/session.ts';
import { sessionHint } from './accounts/session-hint.ts';
import { App } from './app.tsx';
import { createAnonymousApi, createSessionApi } from './data/api.ts';
import { createQueryClient } from './data/queries.ts';
import { ServicesProvider } from './data/services.tsx';
import { speakChosen } from './frame/preferences.ts';
import { Speaking } from './i18n/speaking.tsx';
import { ToastProvider } from './kit/toast.tsx';

// Plain http on another host has no locks; there one tab cannot wait for another, and the service's grace covers it.
const proofs = createProofs();
const anonymous = createAnonymousApi(proofs);
const session = createSessionStore({
  api: anonymous,
  now: () => Date.now(),
  locks: navigator.locks ?? { request: (_name: string, work: () => unknown) => work() },
  channel: new BroadcastChannel('parley.session'),
  hint: sessionHint,
});
const isDevelopment = document.querySelector<HTMLMetaElement>('meta[name="parley-mode"]')?.content === 'development';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
await speakChosen();
createRoot(root).render(
  <StrictMode>
    <ServicesProvider value={{ api: createSessionApi(session, proofs), anonymous, session, proofs, isDevelopment }}>
      <QueryClientProvider client={createQueryClient()}>
        <ToastProvider>
          <Speaking>
            <App />
          </Speaking>
        </ToastProvider>
      </QueryClientProvider>
    </ServicesProvider>
  </StrictMode>,
);
void session.start();
