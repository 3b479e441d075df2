import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.js';
import { createQueries } from './queries.js';
import './style.css';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no #root element.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueries()}>
      <Console />
    </QueryClientProvider>
  </StrictMode>,
);
