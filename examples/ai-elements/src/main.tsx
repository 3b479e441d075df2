import { createRoot } from 'react-dom/client';
import { App } from './app';
import { openConversation } from './conversation.js';
import './style.css';

const options = await openConversation();
createRoot(document.getElementById('app')!).render(<App options={options} />);
