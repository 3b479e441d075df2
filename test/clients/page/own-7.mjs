// The newest client of major 7 in this project's packages.
export * as ai from 'ai';
export * as aiReact from '@ai-sdk/react';
export * as React from 'react';
export * as ReactDomClient from 'react-dom/client';
