import '@parley/dashboard/styles/fonts.css';
import '@parley/dashboard/styles/tokens.css';
import './styles/base.css';
import '@parley/dashboard/styles/kit.css';
import '@parley/react/styles.css';
import './styles/frame.css';
import './styles/stage.css';
import './styles/chat.css';
import './styles/inbox.css';
import './wire.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
