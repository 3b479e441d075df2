import { createRoot } from 'react-dom/client';
import { App } from './app.jsx';
import { openConversation } from './conversation.js';

const options = await openConversation();
createRoot(document.getElementById('app')).render(<App options={options} />);
