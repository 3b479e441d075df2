import { createApp } from 'vue';
import App from './App.vue';
import { openConversation } from './conversation.js';

createApp(App, await openConversation()).mount('#app');
