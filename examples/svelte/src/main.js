import { mount } from 'svelte';
import App from './App.svelte';
import { openConversation } from './conversation.js';

mount(App, { target: document.getElementById('app'), props: await openConversation() });
