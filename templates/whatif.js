(function(){
var box=document.getElementById("whatif"),raw=document.getElementById("whatif-data");
if(!box||!raw||typeof BigInt!=="function")return;
var D=JSON.parse(raw.textContent),ONE=BigInt(1e9),HUNDRED=BigInt(100),ZERO=BigInt(0),MICRO=BigInt(1e6),TWO=BigInt(2);
function el(id){return document.getElementById("wi-"+id)}
function scaled(text,digits){var p=text.split("."),f=(p[1]||"");return BigInt(p[0]+f+"0".repeat(digits-f.length))}
var digits=2;
D.rates.forEach(function(r){r.forEach(function(t){if(t!==null)digits=Math.max(digits,(t.split(".")[1]||"").length)})});
var R=D.rates.map(function(r){return r.map(function(t){return t===null?null:scaled(t,digits)})}),UNIT=BigInt(10)**BigInt(digits)*ONE;
function has(list){var s={};list.forEach(function(i){s[i]=true});return s}
var TEXT=has(D.text),PROMPT=has(D.prompt),ANSWER=has(D.answer),CALLS=has(D.calls);
function start(){return D.parts.map(function(p){var s=D.situations[p[1]];
return{w:p[0],swaps:s[2],c:BigInt(p[2]),u:p[3],v:p[4].map(function(n){return BigInt(n)*ONE}),plain:s[0],batch:s[1],f:HUNDRED}})}
function rate(ladder,c){if(ladder<0)return-1;var l=D.ladders[ladder],i=0;while(i<l[0].length&&c>BigInt(l[0][i]))i++;return l[1][i]}
function priced(v,r){return r>=0&&v.every(function(n,i){return n===ZERO||R[r][i]!==null})}
function part(p,with_){var o={};Object.keys(p).forEach(function(k){o[k]=p[k]});Object.keys(with_).forEach(function(k){o[k]=with_[k]});return o}
function times(v,a,b){return v.map(function(n){return n*a/b})}
function up(n,a,b){return(n*a+b-BigInt(1))/b}
function split(p,share,to){
var a=BigInt(share),out=[];
if(share<100)out.push(part(p,{v:p.v.map(function(n){return n-n*a/HUNDRED})}));
out.push(part(p,part(to,{v:times(to.v,a,HUNDRED)})));
return out;
}
var steps={
swap:function(p,s){
var o=p.swaps[s.swap];if(!o)return[p];
var ratio=scaled(D.swaps[s.swap][4],6),c=up(p.c,ratio,MICRO),v=p.v.map(function(n,i){return CALLS[i]?ZERO:TEXT[i]?n*ratio/MICRO:n});
return priced(v,rate(o[0],c))?split(p,s.share,{v:v,c:c,plain:o[0],batch:o[1]}):[p];
},
trim:function(p,s){
var a=BigInt(100-s.prompt),b=BigInt(100-s.answer),c=up(p.c,a,HUNDRED);
var v=p.v.map(function(n,i){return PROMPT[i]?n*a/HUNDRED:ANSWER[i]?n*b/HUNDRED:n});
return priced(v,rate(p.plain,c))?[part(p,{v:v,c:c})]:[p];
},
cache:function(p,s){
if(!p.u)return[p];
var v=p.v.slice(),text=ZERO;D.prompt.forEach(function(i){text+=v[i]});
var read=text*BigInt(s.cached)/HUNDRED,left=text-read;
v[D.prompt[1]]=read;
D.prompt.slice(2).forEach(function(i){if(v[i]>left)v[i]=left;left-=v[i]});
v[D.prompt[0]]=left;
return priced(v,rate(p.plain,p.c))?[part(p,{v:v})]:[p];
},
batch:function(p,s){return priced(p.v,rate(p.batch,p.c))?split(p,s.batch,{v:p.v,plain:p.batch,batch:-1}):[p]},
grow:function(p,s){return[part(p,{v:times(p.v,BigInt(100+s.grow),HUNDRED)})]},
price:function(p,s){return[part(p,{f:p.f*BigInt(100-s.discount)/HUNDRED})]}
};
function bill(parts){
var sum={prefill:ZERO,decode:ZERO,fee:ZERO};
parts.forEach(function(p){var r=R[rate(p.plain,p.c)];if(!r)return;p.v.forEach(function(n,i){if(n)sum[D.phases[i]]+=n*r[i]*p.f/HUNDRED})});
sum.total=sum.prefill+sum.decode+sum.fee;return sum;
}
function goes(s){return D.parts.some(function(p){return(s.workload<0||p[0]===s.workload)&&D.situations[p[1]][2][s.swap]})}
function wanted(s){
var out=[];
if(s.swap>=0&&s.share>0&&goes(s))out.push(["swap",s.share+" % to "+D.swaps[s.swap][3]]);
if(s.prompt||s.answer)out.push(["trim","trim "+[s.prompt?s.prompt+" % of prompts":"",s.answer?s.answer+" % of answers":""].filter(Boolean).join(" and ")]);
if(s.cached!==null)out.push(["cache","read "+s.cached+" % of the prompt text from a cache"]);
if(s.batch)out.push(["batch",s.batch+" % as batch jobs"]);
if(s.grow)out.push(["grow",(s.grow>0?"+":"\u2212")+Math.abs(s.grow)+" % requests"]);
if(s.discount)out.push(["price",s.discount+" % discount"]);
return out;
}
function walk(s){
var parts=start(),out=[{title:"as it is",bill:bill(parts)}];
wanted(s).forEach(function(w){
parts=[].concat.apply([],parts.map(function(p){return s.workload<0||p.w===s.workload?steps[w[0]](p,s):[p]}));
out.push({kind:w[0],title:w[1],bill:bill(parts)});
});
return out;
}
function cents(n,unit){var q=HUNDRED*n,u=unit||UNIT,neg=q<ZERO,h=((neg?-q:q)*TWO+u)/(u*TWO);return neg?-h:h}
var small=bill(start()).total<BigInt(10)*UNIT;
function money(n,unit){
var places=small?6:2,c=cents(small?n*BigInt(10000):n,unit),neg=c<ZERO;if(neg)c=-c;
var t=c.toString().padStart(places+1,"0"),w=t.slice(0,-places).replace(/\B(?=(\d{3})+$)/g,",");
return(neg?"\u2212":"")+"$"+w+"."+t.slice(-places);
}
function percent(a,b){if(!b)return"";var x=Number(a*BigInt(1000)/b)/10;return(x<0?"\u2212":"")+Math.abs(x).toFixed(Math.abs(x)<10?1:0)+" %"}
var keys=["prompt","answer","cached","batch","grow","discount"],state;
function fresh(){state={workload:-1,swap:-1,share:100,cached:null};["prompt","answer","batch","grow","discount"].forEach(function(k){state[k]=0})}
function today(){
var a=ZERO,b=ZERO;D.parts.forEach(function(p){if(state.workload>=0&&p[0]!==state.workload)return;D.prompt.forEach(function(i,k){var n=BigInt(p[4][i]);b+=n;if(k===1)a+=n})});
return b?Number((a*BigInt(200)/b+BigInt(1))/BigInt(2)):0;
}
function show(k,v){el(k).value=v;el(k+"-n").value=v}
function quoted(t){return JSON.stringify(t).replace(/[\u007f-\uffff]/g,function(c){return"\\u"+("000"+c.charCodeAt(0).toString(16)).slice(-4)})}
function share(n){return String(n/100)}
function yaml(s){
var lines=[],only=s.workload<0?[]:["    workload: "+quoted(D.workloads[s.workload])];
wanted(s).forEach(function(w){
var x=D.swaps[s.swap],body={
swap:function(){return["model: "+quoted(x[1])].concat(x[0]===null?[]:["provider: "+quoted(x[0])],["to: "+quoted(x[3])],x[2]===null?[]:["to_provider: "+quoted(x[2])],["token_ratio: "+x[4],"share: "+share(s.share)])},
trim:function(){return["prompt: "+share(s.prompt),"answer: "+share(s.answer)]},
cache:function(){return["read_share: "+share(s.cached)]},
batch:function(){return["share: "+share(s.batch)]},
grow:function(){return["factor: "+share(100+s.grow)]},
price:function(){return["multiples: {all: "+share(100-s.discount)+"}"]}
}[w[0]]();
lines.push("  - do: "+(w[0]==="swap"?"swap_model":w[0]));
body.forEach(function(t){lines.push("    "+t)});
lines.push.apply(lines,only);
});
return lines.length?"name: What-if from the report\nsteps:\n"+lines.join("\n")+"\n":"# Nothing is changed yet.\n";
}
function decimal(text,most,otherwise){return/^\d{1,9}(\.\d+)?$/.test(text)&&Number(text)>0&&Number(text)<=most?scaled(text.replace(/(\.\d{6})\d+$/,"$1"),6):otherwise}
function hosted(api){
var h=D.host;if(!h)return;
var g=el("gpu"),u=el("util"),busy=scaled(h.busy,6),rate=decimal(g.value,1000,scaled(g.defaultValue,6));
var share=u.value===u.defaultValue?null:decimal(u.value,100,null),hours=share===null?scaled(h.paid,6):busy*HUNDRED*MICRO/share;
var usd=hours*rate*scaled(h.ratio,6)+scaled(h.fixed,6)*MICRO*MICRO,unit=MICRO*MICRO*MICRO,less=cents(api)-cents(usd,unit);
el("hosted").textContent="Own accelerators: "+money(usd,unit)+" ("+D.period+"), "+money(less<ZERO?-less:less,HUNDRED)+(less<ZERO?" more":" less")+" than the API above.";
}
var saying;
function draw(){
var found=walk(state),first=found[0].bill,last=found[found.length-1].bill,delta=last.total-first.total,changed=found.length>1;
el("l").textContent=(changed?"Would cost":"As it is")+(D.partial?", at least":"")+" ("+D.period+")";
el("total").textContent=money(last.total);
var month=scaled(D.month,6),saves=(delta<ZERO?"saves ":"costs ")+money(delta<ZERO?-delta:delta)+(delta<ZERO?"":" more");
el("change").textContent=changed?money(first.total)+" today: "+(delta<ZERO?"":"+")+(percent(delta,first.total)||"no change")+", "+saves+(D.unit==="a month"?", about "+money((delta<ZERO?-delta:delta)*month,UNIT*MICRO)+" a month":""):"Move a slider or choose a model.";
var p=Number(last.total?last.prefill*BigInt(10000)/last.total:ZERO)/100,d=Number(last.total?last.decode*BigInt(10000)/last.total:ZERO)/100;
el("pre").setAttribute("width",p);el("dec").setAttribute("x",p);el("dec").setAttribute("width",d);
el("split").textContent="Prefill "+money(last.prefill)+" ("+p.toFixed(0)+" %), decode "+money(last.decode)+" ("+d.toFixed(0)+" %)"+(last.fee?", fees "+money(last.fee):"");
var body=el("steps");body.textContent="";
found.forEach(function(f,i){
var r=body.insertRow(),h=document.createElement("th");h.scope="row";h.textContent=f.title;r.appendChild(h);
[money(f.bill.total),i?money(f.bill.total-found[i-1].bill.total):""].forEach(function(t){var c=r.insertCell();c.className="num";c.textContent=t});
});
el("foot").textContent=el("total").textContent+(changed?" ("+(delta<ZERO?"":"+")+(percent(delta,first.total)||"no change")+")":" as it is");
el("yaml").textContent=yaml(state);hosted(last.total);
clearTimeout(saying);saying=setTimeout(function(){el("say").textContent=el("l").textContent+" "+el("total").textContent+". "+el("change").textContent},600);
if(state.cached===null)show("cached",today());
el("cached-h").textContent=(state.cached===null?"As it is today":"Today: "+today()+" %")+"; what is written to it stays as far as it fits";
}
function fill(select,items){select.textContent="";items.forEach(function(t){var o=document.createElement("option");o.value=t[0];o.textContent=t[1].length>60?t[1].slice(0,59)+"\u2026":t[1];if(t[1].length>60)o.title=t[1];select.appendChild(o)})}
fill(el("workload"),[["-1","All workloads"]].concat(D.workloads.map(function(n,i){return[String(i),n]})));
el("workload").addEventListener("change",function(){state.workload=Number(this.value);if(from)ratio();draw()});
var from=el("from"),to=el("to");
function sources(){var seen={},out=[["","no other model"]];D.swaps.forEach(function(x){var k=JSON.stringify([x[0],x[1]]);if(!seen[k]){seen[k]=1;out.push([k,x[1]])}});return out}
function targets(){
var out=[];D.swaps.forEach(function(x,i){if(JSON.stringify([x[0],x[1]])===from.value)out.push([String(i),x[3]])});
fill(to,out);to.disabled=!out.length;state.swap=out.length?Number(to.value):-1;
}
function ratio(){
var x=D.swaps[state.swap];el("share-f").hidden=!x;
el("to-h").textContent=!x?"":!goes(state)?"No request of this workload is for that model":x[5]?(Number(x[4])===1?"Same tokenizer":"About "+Number(x[4]).toFixed(2)+" of its tokens for one of today"):"How its tokenizer counts is not measured: taken as the same";
}
if(from){
fill(from,sources());
from.addEventListener("change",function(){targets();ratio();draw()});
to.addEventListener("change",function(){state.swap=Number(to.value);ratio();draw()});
}
keys.concat(from?["share"]:[]).forEach(function(k){
function set(e){
var i=e.target,v=Math.round(Number(i.value));
if(i.value===""||isNaN(v))return;
v=Math.max(Number(i.min),Math.min(Number(i.max),v));state[k]=v;
el(k).value=v;if(i!==el(k+"-n"))el(k+"-n").value=v;draw();
}
el(k).addEventListener("input",set);el(k+"-n").addEventListener("input",set);
el(k+"-n").addEventListener("blur",function(){show(k,state[k]===null?today():state[k])});
});
if(D.host)["gpu","util"].forEach(function(k){el(k).addEventListener("input",draw)});
function reset(){
fresh();if(D.host)["gpu","util"].forEach(function(k){el(k).value=el(k).defaultValue});keys.forEach(function(k){show(k,state[k]||0)});el("workload").value="-1";
if(from){from.value="";targets();ratio();show("share",100)}draw();
}
el("reset").addEventListener("click",reset);
el("reset").parentNode.appendChild(window.report.copier("Copy as scenario","YAML for advisor whatif",function(){return yaml(state)}));
reset();
document.querySelectorAll("[data-live]").forEach(function(n){n.hidden=false});
})();
