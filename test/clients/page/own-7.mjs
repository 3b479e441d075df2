// The newest clients of 7 that the project has among its own packages.
export * as ai from 'ai';
export * as aiReact from '@ai-sdk/react';
export * as React from 'react';
export * as ReactDomClient from 'react-dom/client';
