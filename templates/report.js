(function(){
var tip=document.getElementById("tip");
document.addEventListener("pointermove",function(e){
var g=e.target.closest?e.target.closest("[data-t]"):null;
tip.hidden=!g;if(!g)return;
tip.textContent=g.getAttribute("data-t");
tip.style.left=Math.max(8,Math.min(e.clientX+14,innerWidth-tip.offsetWidth-8))+"px";
tip.style.top=Math.max(8,Math.min(e.clientY+14,innerHeight-tip.offsetHeight-8))+"px";
});
document.querySelectorAll("main table[id]").forEach(function(t){
t.querySelectorAll("thead th").forEach(function(h,i){
var b=document.createElement("button");b.type="button";
while(h.firstChild)b.appendChild(h.firstChild);
h.appendChild(b);
b.addEventListener("click",function(){
var up=h.getAttribute("aria-sort")==="descending",body=t.tBodies[0];
t.querySelectorAll("th[aria-sort]").forEach(function(o){o.removeAttribute("aria-sort")});
h.setAttribute("aria-sort",up?"ascending":"descending");
function key(r){var c=r.cells[i],v=c.getAttribute("data-v");return v===null?c.textContent.trim():v}
Array.from(body.rows).sort(function(a,c){
var x=key(a),y=key(c),n=x!==""&&y!==""&&!isNaN(x)&&!isNaN(y)?x-y:x.localeCompare(y);
return up?n:-n}).forEach(function(r){body.appendChild(r)});
});
});
});
})();
